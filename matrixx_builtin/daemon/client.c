/* The thin client in C: client PYTHON HOST EVENT open|closed [PROJECT [SECONDS]]. It does what client.py tells and does. */
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define REFUSED                                                                                                       \
    "Refused by Matrixx: its engine gave no answer, and this is installed to refuse what no guard has looked at. "    \
    "Ask the user to run: matrixx doctor (or to take Matrixx out: matrixx uninstall)\n"
#define UNGUARDED                                                                                                     \
    "{\"systemMessage\": \"Matrixx has not looked at this: its engine gave no answer. Run: matrixx doctor\"}\n"

enum { PYTHON = 1, HOST, EVENT, POLICY, PROJECT, SECONDS, ARGUMENTS };
static const char *args[ARGUMENTS];
static char project[PATH_MAX];
static struct sockaddr_un address = {.sun_family = AF_UNIX};

struct bytes { char *data; size_t size, room; };

static int put(int file, const char *data, size_t size) {
    while (size > 0) {
        ssize_t done = write(file, data, size);
        if (done < 0 && errno != EINTR) return -1;
        if (done > 0) data += done, size -= (size_t)done;
    }
    return 0;
}

static void fail(int unused) { /* a signal handler, too: whatever takes too long ends here */
    (void)unused;
    const char *event = args[EVENT];
    int refuses = !strcmp(args[POLICY], "closed")
        && (!strcmp(event, "PreToolUse") || !strcmp(event, "UserPromptSubmit") || !strcmp(event, "PermissionRequest"));
    if (refuses) put(2, REFUSED, sizeof REFUSED - 1); else put(1, UNGUARDED, sizeof UNGUARDED - 1);
    _exit(refuses ? 2 : 0);
}

static void take(int file, struct bytes *into) { /* all there is; what cannot be read ends it */
    for (;;) {
        if (into->size + 1 >= into->room) {
            into->room = into->room ? 2 * into->room : 1 << 16;
            if (!(into->data = realloc(into->data, into->room))) fail(0);
        }
        ssize_t got = read(file, into->data + into->size, into->room - into->size - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        into->size += (size_t)got;
    }
    into->data[into->size] = 0;
}

static void set_deadline(double seconds) {
    struct itimerval timer = {.it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void find_socket(void) {
    char path[2 * PATH_MAX];
    unsigned long long key = 0xcbf29ce484222325ULL;
    for (const char *at = project; *at; at++) key = (key ^ (unsigned char)*at) * 0x100000001b3ULL;
    const char *base = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
    unsigned user = (unsigned)geteuid();
    struct stat found;
    int length;
    if (base && *base == '/' && !stat(base, &found) && S_ISDIR(found.st_mode) && found.st_uid == geteuid())
        length = snprintf(path, sizeof path, "%s/matrixx/%016llx.sock", base, key);
    else
        length = snprintf(path, sizeof path, "%s/matrixx-%u/%016llx.sock", temporary && *temporary == '/' ? temporary : "/tmp", user, key);
    if (length > 100) snprintf(path, sizeof path, "/tmp/matrixx-%u/%016llx.sock", user, key);
    memcpy(address.sun_path, path, strlen(path) + 1);
}

static int connected(void) { /* -1 where nobody listens */
    struct stat found;
    char folder[sizeof address.sun_path];
    strcpy(folder, address.sun_path);
    *strrchr(folder, '/') = 0;
    if (!lstat(folder, &found)) {
        if (!S_ISDIR(found.st_mode) || found.st_mode & 077 || found.st_uid != geteuid()) fail(0);
        int file = socket(AF_UNIX, SOCK_STREAM, 0);
        if (file >= 0 && !connect(file, (struct sockaddr *)&address, sizeof address)) return file;
        int why = errno;
        close(file);
        errno = why;
    }
    if (errno != ENOENT && errno != ECONNREFUSED) fail(0);
    return -1;
}

static void become_engine(void) {
    setsid();
    int nothing = open("/dev/null", O_RDWR);
    for (int file = 0; file < 3; file++) dup2(nothing, file);
    for (int file = 3; file < 256; file++) close(file);
    signal(SIGPIPE, SIG_DFL);
    execl(args[PYTHON], args[PYTHON], "-P", "-m", "matrixx_builtin", "serve", "daemon", "--project", project, (char *)NULL);
    _exit(127);
}

static int started(void) {
    pid_t child = fork();
    if (child == 0) become_engine();
    for (int file, status;;) {
        usleep(10 * 1000);
        if ((file = connected()) >= 0) return file;
        if (child > 0 && waitpid(child, &status, WNOHANG) == child) {
            if (status) fail(0);
            child = 0;
        }
    }
}

static struct bytes asked_once(const struct bytes *header, const struct bytes *payload) { /* empty if the engine went away */
    struct bytes answer = {0};
    int file = connected();
    if (file < 0) file = started();
    if (!put(file, header->data, header->size)) put(file, payload->data, payload->size);
    shutdown(file, SHUT_WR);
    take(file, &answer);
    close(file);
    return answer;
}

static struct bytes asked(const struct bytes *header, const struct bytes *payload) {
    struct bytes answer = asked_once(header, payload);
    for (int pause = 20; !answer.size && pause <= 200; pause *= 10) {
        usleep((useconds_t)pause * 1000);
        answer = asked_once(header, payload);
    }
    return answer;
}

int main(int count, char **given) {
    for (int at = 0; at < ARGUMENTS; at++) args[at] = at < count ? given[at] : "";
    for (int file = 0; file < 3; file++)
        if (fcntl(file, F_GETFD) < 0) open("/dev/null", O_RDONLY); /* no socket may get its number */
    sigset_t all;
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, fail);
    char *end;
    double seconds = *args[SECONDS] ? strtod(args[SECONDS], &end) : 30;
    if (!(seconds > 0) || seconds > 86400 || (*args[SECONDS] && *end)) fail(0);
    set_deadline(seconds);
    struct bytes payload = {0}, header = {0}, answer;
    take(0, &payload);
    const char *named = *args[PROJECT] ? args[PROJECT] : getenv("CLAUDE_PROJECT_DIR");
    if (!realpath(named && *named ? named : ".", project)) fail(0);
    header.room = strlen(args[HOST]) + strlen(args[EVENT]) + strlen(args[PYTHON]) + 64;
    if (!(header.data = malloc(header.room))) fail(0);
    header.size = (size_t)snprintf(header.data, header.room, "matrixx 1 %s %s %ld %s\n", args[HOST], args[EVENT], (long)getppid(), args[PYTHON]);
    find_socket();
    answer = asked(&header, &payload);
    set_deadline(0);
    char *body = memchr(answer.data, '\n', answer.size);
    if (!body || (answer.data[0] != '0' && answer.data[0] != '2') || answer.data[1] != ' ') fail(0);
    size_t size = (size_t)(answer.data + answer.size - ++body);
    if (answer.data[2] < '0' || answer.data[2] > '9' || strtoull(answer.data + 2, &end, 10) != size || end + 1 != body) fail(0);
    int code = answer.data[0] - '0';
    if (put(code ? 2 : 1, body, size)) fail(0);
    return code;
}

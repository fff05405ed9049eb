"""Secrets and look-alikes, made afresh in every run so that no file holds one."""

import base64
import json
import random
import string
from collections.abc import Callable

ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"


class Maker:
    """Random bodies from a seed, so that a failing run can be repeated."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def body(self, size: int, alphabet: str = ALNUM) -> str:
        """A random text that holds a digit and a capital where the alphabet has them, as nearly every real key does."""
        while True:
            text = "".join(self._random.choice(alphabet) for _ in range(size))
            if any(map(str.isdigit, text)) and (alphabet in (HEX, BASE32) or any(map(str.isupper, text))):
                return text

    def pem(self, kind: str, lines: int = 6) -> str:
        body = "\n".join(self.body(64, BASE64) for _ in range(lines))
        return f"-----{'BEGIN'} {kind}PRIVATE KEY-----\n{body}\n-----{'END'} {kind}PRIVATE KEY-----"

    def jwt(self) -> str:
        def part(claims: dict[str, object]) -> str:
            return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")

        head = part({"alg": "HS256", "typ": "JWT"})
        claims = part({"sub": self.body(12), "iat": self._random.randrange(10**9, 2 * 10**9), "scope": self.body(8)})
        return f"{head}.{claims}.{self.body(43, URLSAFE)}"


SECRETS: dict[str, Callable[[Maker], str]] = {
    "github classic": lambda m: f"gh{'p'}_{m.body(36)}",
    "github fine-grained": lambda m: f"github_{'pat'}_{m.body(22)}_{m.body(59)}",
    "gitlab": lambda m: f"glp{'at'}-{m.body(20, URLSAFE)}",
    "anthropic": lambda m: f"sk-{'ant'}-api03-{m.body(93, URLSAFE)}AA",
    "openai project": lambda m: f"sk-{'proj'}-{m.body(74, URLSAFE)}T3BlbkFJ{m.body(74, URLSAFE)}",
    "openai classic": lambda m: f"s{'k'}-{m.body(20)}T3BlbkFJ{m.body(20)}",
    "slack bot": lambda m: (
        f"xox{'b'}-{m.body(12, string.digits[1:] + 'A').replace('A', '7')}-{m.body(13, string.digits[1:] + 'A').replace('A', '4')}-{m.body(24)}"
    ),
    "stripe live": lambda m: f"sk_{'live'}_{m.body(24)}",
    "google api": lambda m: f"AI{'za'}{m.body(35, URLSAFE)}",
    "npm": lambda m: f"np{'m'}_{m.body(36)}",
    "pypi": lambda m: f"py{'pi'}-AgEIcHlwaS5vcmc{m.body(120, URLSAFE)}",
    "huggingface": lambda m: f"h{'f'}_{m.body(34)}",
    "sendgrid": lambda m: f"S{'G'}.{m.body(22, URLSAFE)}.{m.body(43, URLSAFE)}",
    "twilio": lambda m: f"S{'K'}{m.body(32, HEX)}",
    "rsa pem": lambda m: m.pem("RSA "),
    "openssh": lambda m: m.pem("OPENSSH "),
    "pkcs8": lambda m: m.pem("", 2),
    "jwt": lambda m: m.jwt(),
    "aws pair": lambda m: f"aws_access_key_id = AK{'IA'}{m.body(16, BASE32)}\naws_secret_access_key = {m.body(40, BASE64)}",
    "aws id alone": lambda m: f"AK{'IA'}{m.body(16, BASE32)}",
    "aws secret alone": lambda m: f"AWS_SECRET_ACCESS_KEY={m.body(40, BASE64)}",
    "postgres url": lambda m: f"postgresql://app:{m.body(18)}@db.internal.corp:5432/orders",
    "mongodb url": lambda m: f"mongodb+srv://svc:{m.body(14)}@cluster0.ab1cd.mongodb.net/prod",
    "generic api key": lambda m: f'api_key = "{m.body(40)}"',
    "generic hex secret": lambda m: f"client_secret: '{m.body(32, HEX)}'",
    "generic password": lambda m: f"DB_PASSWORD={m.body(20)}",
    "short password": lambda m: f'"password": "{m.body(6)}#{m.body(6)}!"',
}
"""What must be found. Literals are broken up so that scanners of this repository stay quiet."""


def containers(secret: str) -> dict[str, str]:
    """The places a secret hides in, as decoded text."""
    return {
        "plain": secret,
        "python": f"import os\n\nvalue = '''{secret}'''\n",
        "comment": f"# note to self: {secret}\n",
        "shell header": f'curl -sS -X POST -H "X-Thing: {secret}" https://api.internal.corp/v1/things',
        "json": json.dumps({"a": 1, "nested": {"thing": secret}}),
        "json in json": json.dumps(json.dumps({"thing": secret})),
        "base64": f"echo {base64.b64encode(secret.encode()).decode()} | base64 -d > out",
        "address": f"https://api.internal.corp/v1/things?x=1&thing={secret}&y=2",
        "percent": f"thing%3D{secret}",
        "escaped": f"printf 'line\\n{secret}\\n'",
        "heredoc": f"cat > config.txt <<'EOF'\nfirst\n{secret}\nEOF\n",
        "crlf": f"first\r\n{secret}\r\nlast\r\n",
        "prompt": f"Hi! Please use {secret} for the requests, thanks.",
        "unicode": f"naïve - übergröße 🔑 {secret} ✓",
    }


PLACEHOLDERS = (
    f"AK{'IA'}IOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "sk-your-key-here",
    "OPENAI_API_KEY=sk-your-openai-api-key-goes-right-here-please",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    f"gh{'p'}_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    f"gh{'p'}_1234567890abcdefghijklmnopqrstuvwxyz",
    f"gh{'p'}_{'0' * 36}",
    "api_key = ${API_KEY}",
    'api_key: "${{ secrets.API_KEY }}"',
    "token = {{ vault.token }}",
    'curl -H "Authorization: Bearer synthetic-access-token" https://x.y',
    'curl -H "Authorization: Bearer $GITHUB_TOKEN" https://x.y',
    'password = "placeholder"',
    'password = "changeme"',
    'password = "hunter2"',
    'password: "correct horse battery staple"',
    "The password policy update: every password must be at least 12 characters long.",
    "secret: see the vault; token: ask Bob; password: same as last year",
    '"integrity": "sha512-dEzYyo3mNNsnmjQOSrvaIHFgIXjZkIxp0sYVhNVe5N5eCgTQ0gSqRbJ0tNUz0UuKHN7c0LSm1Hi0EdjMIbhvdQ=="',
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "id = 123e4567-e89b-42d3-a456-426614174000",
    'api_key = "123e4567-e89b-42d3-a456-426614174000"',
    "token <YOUR_KEY> goes there",
    'api_key="<YOUR_KEY>"',
    'API_KEY = os.environ["API_KEY"]',
    "const apiKey = process.env.API_KEY_2;",
    "const { apiKey, token2 } = settings;",
    "password = get_password()",
    "self.token2 = self.make_token(user1)",
    "const accessToken: string = await fetchAccessToken2(user);",
    "token = response.json()['access_token']",
    "password: Optional[str] = None",
    "postgres://user:password@localhost:5432/app",
    "postgres://postgres:postgres@db:5432/app",
    "postgres://${DB_USER}:${DB_PASS}@db.internal/app",
    "https://user:pass@example.com/",
    "mysql://root:$MYSQL_PASSWORD@10.0.0.1/app",
    "if '-----BEGIN PRIVATE KEY-----' in text: raise ValueError",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "password_hash = '$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW'",
    "token_sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
    "secretName: my-app-tls-certificate-2024-production",
    "cache_key = 'user:profile:v2:1234:settings:a1b2c3'",
    'primary_key = "a8Kd02jfLq93Xz7Bv1Nm4"',
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased-2023-v1')",
    "docker run -u 1000:1000 image",
    "from authlib.oauth import DjangoOAuth2ApplicationClient",
    "passwd 1:4.13+dfsg1-1+deb12u1 amd64",
    "fix the token 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "class Client(_OAuth2Client): ...",
    '__all__ = ["OAuth", "AsyncOAuth2Client", "token_update"]',
    "_auth=bm90IG15IHJlYWwgcGFzc3dvcmQ=",
    "mongodb+srv://svc:{password}@cluster0.ab1cd.mongodb.net/prod",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB5ZvmJhGLK7zqSdVf2m8V1g7gGg0m9bB7mQ0h9s3k2n me@host",
    "http://localhost:8080/callback?state=abc&code=def",
    "git@github.com:owner/repository.git",
    "risk-assessment-for-the-very-long-titled-quarterly-report-2024",
    "url: https://packages.example/@babel/core/-/core-7.24.0.tgz#sha1-9fceb02d0ae598e95dc970b74767f19372d61af8",
    (
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ."
        "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
    ),
)
"""What must not be refused (case C12 and its relatives)."""

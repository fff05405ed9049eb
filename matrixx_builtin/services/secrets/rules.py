"""Our own quick rules: what a secret looks like, as data.

Every pattern starts with a literal (the ``re`` engine then skips to it at ``str.find`` speed), has only bounded or possessive
repeats, and looks back a few characters at most: the work of a scan grows with the length of the text and with nothing else.
"""

import re
from dataclasses import KW_ONLY, dataclass
from functools import cache, cached_property
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["block", "warn"]


@dataclass(frozen=True)
class TokenRule:
    """A kind of token that its own shape gives away: a ``literal``, then the ``body``.

    No word of ``inside`` may go on into the literal, and nothing of ``after`` may follow the body.
    """

    id: str
    description: str
    literal: str
    body: str
    _: KW_ONLY
    inside: str = ""
    after: str = ""
    severity: Severity = "block"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The whole token; compiled at its first use, as all of them together take 10 ms."""
        start = _start(re.escape(self.literal), self.inside) if self.inside else re.escape(self.literal)
        body = re.sub(r"(\{[\d,]+\})", r"\1+", self.body)
        return re.compile(start + body + (f"(?![{self.after}])" if self.after else ""), re.ASCII)

    @property
    def shape(self) -> str:
        """Where ``pattern`` may begin, in words that kingfisher's engine knows."""
        return f"{_before(self.literal, self.body, self.inside)}({re.escape(self.literal)}{_shortest(self.body)})"


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def _before(literal: str, body: str, inside: str) -> str:
    """What stands before a token: anything, but not the literal itself where the body could be made of it.

    So text that repeats a token's beginning gives kingfisher one start to look at, not thousands.
    """
    repeats = re.match(body, literal * 99) is not None
    barred = inside + (re.escape(literal[-1]) if repeats else "")
    again = rf"|[^{re.escape(literal[-2])}]{re.escape(literal[-1])}" if repeats else ""
    return rf"(?:^|[^{barred}]{again}|\\[nrt]|%[0-9A-Fa-f]{{2}})" if barred else ""


def _shortest(body: str) -> str:
    """The body with its last repeat at its least: one match a token instead of one for every length that it may have."""
    return re.sub(r"\{(\d+),\d+\}$", r"{\1}", body)


def _start(literal: str, inside: str) -> str:
    r"""The literal where no word goes on into it; an escape (``\n``) or a percent sequence before it is no word."""
    return rf"{literal}(?:(?<![{inside}]{literal})|(?<=\\[nrt]{literal})|(?<=%[0-9A-Fa-f][0-9A-Fa-f]{literal}))"


TOKEN_RULES: tuple[TokenRule, ...] = (
    TokenRule("aws-access-key-id", "AWS access key id", "AKIA", r"[A-Z2-7]{16}", after="A-Z0-9"),
    TokenRule("aws-session-key-id", "AWS session key id", "ASIA", r"[A-Z2-7]{16}", after="A-Z0-9"),
    TokenRule("github-pat", "GitHub personal access token", "ghp_", r"[A-Za-z0-9]{36,255}"),
    TokenRule("github-oauth", "GitHub OAuth token", "gho_", r"[A-Za-z0-9]{36,255}"),
    TokenRule("github-user-token", "GitHub app user token", "ghu_", r"[A-Za-z0-9]{36,255}"),
    TokenRule("github-server-token", "GitHub app server token", "ghs_", r"[A-Za-z0-9]{36,255}"),
    TokenRule("github-refresh-token", "GitHub refresh token", "ghr_", r"[A-Za-z0-9]{36,255}"),
    TokenRule("github-fine-grained-pat", "GitHub fine-grained personal access token", "github_pat_", r"[A-Za-z0-9_]{50,255}"),
    TokenRule("gitlab-pat", "GitLab personal access token", "glpat-", r"[A-Za-z0-9_.-]{20,300}"),
    TokenRule("gitlab-deploy-token", "GitLab deploy token", "gldt-", r"[A-Za-z0-9_-]{20,300}"),
    TokenRule("gitlab-runner-token", "GitLab runner token", "glrt-", r"[A-Za-z0-9_-]{20,300}"),
    TokenRule("gitlab-trigger-token", "GitLab pipeline trigger token", "glptt-", r"[A-Za-z0-9]{40,300}"),
    TokenRule("anthropic-api-key", "Anthropic API key", "sk-ant-", r"[A-Za-z0-9_-]{32,300}", inside="A-Za-z0-9"),
    TokenRule("openai-api-key", "OpenAI API key", "sk-", r"[A-Za-z0-9_-]{32,300}", inside="A-Za-z0-9"),
    TokenRule("slack-bot-token", "Slack bot token", "xoxb-", r"[A-Za-z0-9.-]{24,300}"),
    TokenRule("slack-user-token", "Slack user token", "xoxp-", r"[A-Za-z0-9.-]{24,300}"),
    TokenRule("slack-token", "Slack token", "xox", r"[aeors]-[A-Za-z0-9.-]{24,300}"),
    TokenRule("slack-app-token", "Slack app-level token", "xapp-", r"\d-[A-Za-z0-9-]{32,300}"),
    TokenRule("slack-webhook", "Slack webhook address", "hooks.slack.com/", r"(?:services|workflows)/[A-Za-z0-9+/]{40,120}"),
    TokenRule("stripe-secret-key", "Stripe live secret key", "sk_live_", r"[A-Za-z0-9]{16,255}"),
    TokenRule("stripe-restricted-key", "Stripe live restricted key", "rk_live_", r"[A-Za-z0-9]{16,255}"),
    TokenRule("stripe-test-key", "Stripe test key", "sk_test_", r"[A-Za-z0-9]{16,255}", severity="warn"),
    TokenRule("stripe-webhook-secret", "Stripe webhook secret", "whsec_", r"[A-Za-z0-9+/]{32,64}"),
    TokenRule("google-api-key", "Google API key", "AIza", r"[A-Za-z0-9_-]{35}", after="A-Za-z0-9_-"),
    TokenRule("google-oauth-secret", "Google OAuth client secret", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    TokenRule("npm-token", "npm access token", "npm_", r"[A-Za-z0-9]{36}", after="A-Za-z0-9"),
    TokenRule("pypi-token", "PyPI upload token", "pypi-", r"[A-Za-z0-9_-]{50,400}"),
    TokenRule("huggingface-token", "Hugging Face token", "hf_", r"[A-Za-z0-9]{34,40}", after="A-Za-z0-9"),
    TokenRule("sendgrid-api-key", "SendGrid API key", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    TokenRule("twilio-api-key", "Twilio API key", "SK", r"[0-9a-f]{32}", inside="A-Za-z0-9", after="A-Za-z0-9"),
    TokenRule("digitalocean-token", "DigitalOcean token", "do", r"[opr]_v1_[a-f0-9]{64}"),
    TokenRule("docker-pat", "Docker Hub access token", "dckr_pat_", r"[A-Za-z0-9_-]{27,40}"),
    TokenRule("shopify-token", "Shopify access token", "shp", r"(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    TokenRule("linear-api-key", "Linear API key", "lin_api_", r"[A-Za-z0-9]{32,64}"),
    TokenRule("vault-token", "HashiCorp Vault token", "hvs.", r"[A-Za-z0-9_-]{24,255}"),
    TokenRule("groq-api-key", "Groq API key", "gsk_", r"[A-Za-z0-9]{40,64}"),
    TokenRule("xai-api-key", "xAI API key", "xai-", r"[A-Za-z0-9]{64,90}"),
    TokenRule("perplexity-api-key", "Perplexity API key", "pplx-", r"[A-Za-z0-9]{40,64}"),
    TokenRule("databricks-token", "Databricks token", "dapi", r"[a-f0-9]{32}(?:-\d)?", after="A-Za-z0-9"),
    TokenRule("age-secret-key", "age secret key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    TokenRule(
        "jwt", "JSON web token", "eyJ", r"[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{20,1000}", inside="A-Za-z0-9_-"
    ),
)

PEM_HEADER = re.compile(r"-----BEGIN (?:RSA |DSA |EC |OPENSSH |PGP |ENCRYPTED |SSH2 ENCRYPTED |ANY )?PRIVATE KEY(?: BLOCK)?-----")
PEM_BODY = re.compile(
    r"(?:\\{1,4}[nr]|[\s\"'+,>|#*\\]|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{0,80}){0,160}+([A-Za-z0-9+/=]{24,})"
)
"""What may stand between a key's header and its base64: line breaks (also escaped), quotes, comment signs, PEM headers."""

URL_LOGIN = re.compile(r"://([^\s:/@\"'`<>\\]{0,64}+):([^\s/@\"'`<>\\]{3,256}+)@([^\s/:?#\"'`<>@\\,;]{1,255}+)")
FLAG_LOGIN = re.compile(r" -(?:u|-user)[= ]?[\"']?([^\s:\"']{1,64}+):([^\s\"']{6,256}+)")

KEYWORDS = ("key", "pass", "secret", "token", "pwd", "cred", "auth")
"""One of these is in every name that we take for a credential's; scanned for in lower-cased text."""

SEPARATOR = (
    r"[\w-]{0,40}+(?:\\{0,3}[\"'`])?+\]?+(?:,?+\s{1,20}+[\"']?value[\"']?[ \t]{0,4}+[:=]|[ \t]{0,8}+"
    r"(?:(?:[?!]?:[ \t]{0,4}+[\w&.<>|'\[\]]{1,30}+[ \t]{1,4}+)?=(?:>|=)?|[?!]?:=?|>|\(|"
    r"(?:(?P<comma>,)|\)?[ \t]?(?:\|\||\?\?|or\b))(?=[ \t]{0,8}[\"'`])|(?<=[ \t])(?P<gap>)))"
    r"[ \t]{0,8}+(?:\r?\n[ \t]{0,24}+(?=[\"'`]))?+"
    r"(?:\\{0,3}[\"'`])?+(?P<scheme>(?:bearer|basic|token)[ \t]{1,4}+)?+"
)
"""From a keyword to the value: the rest of the name, closing quote, then one of ``=``, ``:``, ``: type =``, ``=>``, ``>`` (XML), ``(``,
the ``value`` beside a ``name``, ``||`` before a quoted default, ``,`` in a call's arguments, or a gap (which takes a ``--flag`` or a random value)."""


@cache
def assignment(keyword: str) -> re.Pattern[str]:
    """From this keyword to the value that is given to its name."""
    return re.compile(keyword + SEPARATOR, re.ASCII)


_NAME = r"(?i)(?:" + "|".join(KEYWORDS) + r")[a-z0-9_-]{0,40}(?:\\{0,3}[\"'`])?\]?"
_LEAD = r"[ \t]{0,8}(?:\r?\n[ \t]{0,24})?"

CLUES: tuple[tuple[str, str], ...] = (
    ("private-key", r"-----BEGIN [A-Z0-9 ]{0,20}PRIVATE KEY"),
    ("login", r"(?:://[^\s:/@]{0,64}:[^\s/@]{3}| -(?:u|-user)[= ]?[\"']?[^\s:]{1,64}:[^\s]{6})"),
    (
        "assignment",
        _NAME
        + r"(?:[ \t]{0,8}(?:(?:[?!]?:[ \t]{0,4}[a-z0-9_&.<>|'\[\]]{1,30}[ \t]{1,4})?=(?:>|=)?|[?!]?:=?|>|\(|,|\)?[ \t]?(?:\|\||\?\?|or))"
        r"|,?\s{1,20}[\"']?value[\"']?[ \t]{0,4}[:=])" + _LEAD + r"(?:\\{0,3}[\"'`](?:(?:bearer|basic|token)[ \t]{1,4})?[^\n\"'`\\ ]{6}"
        r"|(?:(?:bearer|basic|token)[ \t]{1,4})?[^\s\"'`,;&<>(){}\[\]\\|]{0,64}[0-9])",
    ),
    ("assignment", r"(?i)--[a-z0-9_-]{0,40}(?:" + "|".join(KEYWORDS) + r")[a-z0-9_-]{0,40}[ \t]{1,4}[^\s]{6}"),
    ("assignment", _NAME + r"[ \t]{1,4}[\"'`]?[^\s\"'`,;&<>(){}\[\]\\|]{12}"),
)
"""Where our structural rules can have something to say, in words that kingfisher's engine knows: wider than the rules themselves."""

QUOTED = re.compile(r"[^\n\"'`\\]{1,200}+")
BARE = re.compile(r"[^\s\"'`,;&<>(){}\[\]\\|]{1,200}+")

NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

CREDENTIAL_WORDS = words(
    "password passwd passphrase passcode pass pwd secret secrets token credential credentials auth authorization apikey bearer"
)
CREDENTIAL_ENDINGS = ("password", "passwd", "passphrase", "secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "pwd")
KEY_OWNERS = words(
    "account access admin api app auth client crypto deploy encryption hmac jwt license master private secret service session "
    "shared signing ssh storage subscription webhook"
)
"""``key`` counts as a credential's name only after one of these: ``api_key``, not ``primary_key``."""
HARMLESS_ENDINGS = words(
    "algorithm arn attribute checksum class count digest endpoint env error expiry expires field file fingerprint format hash header "
    "hint id ids index kind label len length limit list location max message min mode name names path pattern placeholder policy prefix "
    "md provider ref regex reset rule rules schema sha size source status store suffix text ttl type types uri url usage validator var version"
)
"""A name that ends so tells something *about* a secret: ``password_hash``, ``token_type``, ``SECRET_NAME``."""

PLACEHOLDER_WORDS = (
    "example", "placeholder", "changeme", "change-me", "change_me", "changethis", "change-this", "change_this", "replaceme", "replace-",
    "replace_", "your-", "your_", "yourapi", "yourkey", "yoursecret", "yourtoken", "yourpass", "-here", "_here", "redacted", "synthetic",
    "dummy", "xxxx", "****", "....", "insert-", "insert_", "not-a-real", "notreal", "not_real", "fake", "sample", "<",
    "&lt;",
    "{}", "${", "{{", "$(", "%(", "#{", "@@",
)  # fmt: skip
MOCK_WORDS = (
    "test",
    "demo",
    "mock",
    "foobar",
    "stub",
    "fixture",
    "secret",
    "password",
    "passw0rd",
    "token",
    "hunter2",
    "letmein",
    "qwerty",
    "default",
    "local",
)
"""In the value of an assignment these make it a warning: a fixture's look, too weak to refuse a call for."""
SEQUENCES = tuple(
    run[start : start + 6]
    for run in ("01234567890", "abcdefghijklmnopqrstuvwxyz", "9876543210", "qwertyuiop")
    for start in range(len(run) - 5)
)
DIGEST = re.compile(
    r"(?:sha\d{1,3}|md5|blake\w{1,4})[-:]|\$(?:2[abxy]|argon2\w{1,2}|pbkdf2[\w-]{0,12}|scrypt|[156y])\$|\{?ssha", re.IGNORECASE
)
BESIDE = re.compile(r"(?![0-9a-fA-F]+$)[A-Za-z0-9_/=-]{20,200}")
"""An unquoted value that stands only beside a credential's name: no class name, version or commit."""
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
VARIABLE = re.compile(r"[$%][A-Za-z_]\w*%?|%[sd]|\{[^{}]*\}", re.ASCII)
EXPRESSION = re.compile(r"[A-Za-z_$@&*!][\w$]*(?:(?:\.|->|::|\?\.|/|-)[\w$-]*)*[!?:]?", re.ASCII)
"""What an unquoted value looks like where it is code: a name, a path of names, a word of prose."""

WEAK_PASSWORD = re.compile(
    r"(?:(?:my|your|the|db|database|user|some|test|dev|local|new|old|app|strong|super|root|admin|login)?[-_]?"
    r"(?:password|passwd|passw0rd|p@ssw0rd|pass|pwd|pw|secret|token|key)|"
    r"user(?:name)?|root|admin|guest|test|postgres|mysql|mongo|redis|rabbitmq|minio|docker|foo|bar|baz|hunter2|letmein|qwerty|credentials|x-access-token|"
    r"x-oauth-basic|x+|\*+|\.+)[-_]?\d{0,6}!?|\d{1,6}",
    re.IGNORECASE,
)
LOCAL_HOSTS = words("localhost 127.0.0.1 0.0.0.0 [::1] host.docker.internal db database postgres mysql mongo redis rabbitmq host hostname")

OVERRULED = frozenset({"curl-auth-user", "generic-credential-uri", "jwt", "jwt-base64", "mongodb-connection-string", "private-key"})
"""Rules of kingfisher whose subject ours judge with fewer false alarms: ``user:password@localhost``, jwt.io's example."""

PUBLIC_SAMPLES = frozenset({"2YotnFZFEjr1zCsicMWpAA", "tGzv3JOkF0XG5Qx2TlKWIA", "mF_9.B5f-4.1JqM"})
"""Tokens printed in RFC 6749 and RFC 6750."""
PUBLIC_JWT = ("eyJzdWIiOiIxMjM0NTY3ODkw",)
"""How the payload of jwt.io's published example begins (``{"sub":"1234567890``)."""

BASE64_CHARACTERS = "+/_-" + NAME_CHARACTERS[:62]
SHORTEST_BASE64 = 26
"""Characters of base64, without padding, that the shortest secret worth unwrapping (20 characters, an AWS key id) takes."""
BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{26,}+(?:\r?\n[A-Za-z0-9+/]{4,}+)*+", re.ASCII)

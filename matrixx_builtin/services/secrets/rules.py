"""Our own quick rules: what a secret looks like, as data.

Every pattern starts with a literal (the ``re`` engine then skips to it at ``str.find`` speed), has only bounded or possessive
repeats, and looks back a few characters at most: the work of a scan grows with the length of the text and with nothing else.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["block", "warn"]


@dataclass(frozen=True, slots=True)
class TokenRule:
    """A kind of token that its own shape gives away; ``always`` marks those that kingfisher's rules do not cover."""

    id: str
    description: str
    pattern: re.Pattern[str]
    severity: Severity = "block"
    always: bool = False


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def _rule(name: str, description: str, pattern: str, *, severity: Severity = "block", always: bool = False) -> TokenRule:
    return TokenRule(name, description, re.compile(pattern, re.ASCII), severity, always)


def _start(literal: str, inside: str = "A-Za-z0-9") -> str:
    r"""The literal where no word goes on into it; an escape (``\n``) or a percent sequence before it is no word."""
    return rf"{literal}(?:(?<![{inside}]{literal})|(?<=\\[nrt]{literal})|(?<=%[0-9A-Fa-f][0-9A-Fa-f]{literal}))"


TOKEN_RULES: tuple[TokenRule, ...] = (
    _rule("aws-access-key-id", "AWS access key id", r"AKIA[A-Z2-7]{16}(?![A-Z0-9])", always=True),
    _rule("aws-session-key-id", "AWS session key id", r"ASIA[A-Z2-7]{16}(?![A-Z0-9])", always=True),
    _rule("github-pat", "GitHub personal access token", r"ghp_[A-Za-z0-9]{36,255}+"),
    _rule("github-oauth", "GitHub OAuth token", r"gho_[A-Za-z0-9]{36,255}+"),
    _rule("github-user-token", "GitHub app user token", r"ghu_[A-Za-z0-9]{36,255}+"),
    _rule("github-server-token", "GitHub app server token", r"ghs_[A-Za-z0-9]{36,255}+"),
    _rule("github-refresh-token", "GitHub refresh token", r"ghr_[A-Za-z0-9]{36,255}+"),
    _rule("github-fine-grained-pat", "GitHub fine-grained personal access token", r"github_pat_[A-Za-z0-9_]{50,255}+"),
    _rule("gitlab-pat", "GitLab personal access token", r"glpat-[A-Za-z0-9_.-]{20,300}+"),
    _rule("gitlab-deploy-token", "GitLab deploy token", r"gldt-[A-Za-z0-9_-]{20,300}+"),
    _rule("gitlab-runner-token", "GitLab runner token", r"glrt-[A-Za-z0-9_-]{20,300}+"),
    _rule("gitlab-trigger-token", "GitLab pipeline trigger token", r"glptt-[A-Za-z0-9]{40,300}+"),
    _rule("anthropic-api-key", "Anthropic API key", _start("sk-") + r"ant-[A-Za-z0-9_-]{32,300}+", always=True),
    _rule("openai-api-key", "OpenAI API key", _start("sk-") + r"(?!ant-)[A-Za-z0-9_-]{32,300}+", always=True),
    _rule("slack-token", "Slack token", r"xox[abeoprs]-[A-Za-z0-9.-]{24,300}+"),
    _rule("slack-app-token", "Slack app-level token", r"xapp-\d-[A-Za-z0-9-]{32,300}+"),
    _rule("slack-webhook", "Slack webhook address", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{40,120}+"),
    _rule("stripe-secret-key", "Stripe live secret key", r"sk_live_[A-Za-z0-9]{16,255}+", always=True),
    _rule("stripe-restricted-key", "Stripe live restricted key", r"rk_live_[A-Za-z0-9]{16,255}+", always=True),
    _rule("stripe-test-key", "Stripe test key", r"sk_test_[A-Za-z0-9]{16,255}+", severity="warn"),
    _rule("stripe-webhook-secret", "Stripe webhook secret", r"whsec_[A-Za-z0-9+/]{32,64}+"),
    _rule("google-api-key", "Google API key", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", always=True),
    _rule("google-oauth-secret", "Google OAuth client secret", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _rule("npm-token", "npm access token", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _rule("pypi-token", "PyPI upload token", r"pypi-[A-Za-z0-9_-]{50,400}+", always=True),
    _rule("huggingface-token", "Hugging Face token", r"hf_[A-Za-z0-9]{34,40}(?![A-Za-z0-9])", always=True),
    _rule("sendgrid-api-key", "SendGrid API key", r"SG\.[A-Za-z0-9_-]{16,32}+\.[A-Za-z0-9_-]{32,64}+"),
    _rule("twilio-api-key", "Twilio API key", _start("SK") + r"[0-9a-f]{32}(?![A-Za-z0-9])", always=True),
    _rule("digitalocean-token", "DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}"),
    _rule("docker-pat", "Docker Hub access token", r"dckr_pat_[A-Za-z0-9_-]{27,40}+"),
    _rule("shopify-token", "Shopify access token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _rule("linear-api-key", "Linear API key", r"lin_api_[A-Za-z0-9]{32,64}+"),
    _rule("vault-token", "HashiCorp Vault token", r"hvs\.[A-Za-z0-9_-]{24,255}+"),
    _rule("groq-api-key", "Groq API key", r"gsk_[A-Za-z0-9]{40,64}+"),
    _rule("xai-api-key", "xAI API key", r"xai-[A-Za-z0-9]{64,90}+"),
    _rule("perplexity-api-key", "Perplexity API key", r"pplx-[A-Za-z0-9]{40,64}+"),
    _rule("databricks-token", "Databricks token", r"dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _rule("age-secret-key", "age secret key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _rule(
        "jwt",
        "JSON web token",
        _start("eyJ", "A-Za-z0-9_-") + r"[A-Za-z0-9_-]{8,2000}+\.eyJ[A-Za-z0-9_-]{8,4000}+\.[A-Za-z0-9_-]{20,1000}+",
        always=True,
    ),
)

PEM_HEADER = re.compile(r"-----BEGIN (?:RSA |DSA |EC |OPENSSH |PGP |ENCRYPTED |SSH2 ENCRYPTED |ANY )?PRIVATE KEY(?: BLOCK)?-----")
PEM_BODY = re.compile(r"(?:\\{1,4}[nr]|[\s\"'+,>|#*\\]|[A-Za-z-]{4,12}: [^\n\\]{0,80}){0,160}+([A-Za-z0-9+/=]{24,})")
"""What may stand between a key's header and its base64: line breaks (also escaped), quotes, comment signs, PEM headers."""

URL_LOGIN = re.compile(r"://([^\s:/@\"'`<>\\]{0,64}+):([^\s/@\"'`<>\\]{3,256}+)@([^\s/:?#\"'`<>@\\,;]{1,255}+)")
FLAG_LOGIN = re.compile(r" -(?:u|-user)[= ]?[\"']?([^\s:\"']{1,64}+):([^\s\"']{6,256}+)")

KEYWORDS = ("key", "pass", "secret", "token", "pwd", "cred", "auth")
"""One of these is in every name that we take for a credential's; scanned for in lower-cased text."""

SEPARATOR = (
    r"[\w-]{0,40}+(?:\\{0,3}[\"'`])?+\]?+(?:[ \t]{0,8}+"
    r"(?:(?:[?!]?:[ \t]{0,4}+[\w&.<>|'\[\]]{1,30}+[ \t]{1,4}+)?=(?:>|=)?|[?!]?:=?|>|\(|(?<=[ \t])(?P<gap>))"
    r"|,?+\s{1,20}+[\"']?value[\"']?[ \t]{0,4}+[:=])[ \t]{0,8}+(?:\r?\n[ \t]{0,24}+(?=[\"'`]))?+"
    r"(?:\\{0,3}[\"'`])?+(?P<scheme>(?:bearer|basic|token)[ \t]{1,4}+)?+"
)
"""From a keyword to the value: the rest of the name, closing quote, ``=``, ``:``, ``: type =``, ``=>``, ``>`` (XML), ``(``,
the ``value`` beside a ``name``, or a gap (which only counts after a ``--flag``)."""

ASSIGNMENTS: tuple[re.Pattern[str], ...] = tuple(re.compile(word + SEPARATOR, re.ASCII) for word in KEYWORDS)

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
    "dummy", "xxxx", "****", "....", "insert-", "insert_", "not-a-real", "notreal", "not_real", "fake", "sample", "<", "${", "{{", "$(", "%(", "#{", "@@",
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
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
VARIABLE = re.compile(r"[$%][A-Za-z_]\w*%?|%[sd]|\{\w*\}", re.ASCII)
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

OVERRULED = frozenset({"generic-credential-uri", "jwt", "jwt-base64"})
"""Rules of kingfisher whose subject ours judge with fewer false alarms: ``user:password@localhost``, jwt.io's example."""

PUBLIC_JWT = ("eyJzdWIiOiIxMjM0NTY3ODkw",)
"""How the payload of jwt.io's published example begins (``{"sub":"1234567890``)."""

BASE64_CHARACTERS = "+/_-" + NAME_CHARACTERS[:62]
SHORTEST_BASE64 = 26
"""Characters of base64, without padding, that the shortest secret worth unwrapping (20 characters, an AWS key id) takes."""
BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{26,}+(?:\r?\n[A-Za-z0-9+/]{4,}+)*+", re.ASCII)

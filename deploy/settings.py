"""Where the three layers become one service. Every value that differs between houses comes from the environment.

Without `DATABASE_URL` the servers of this clone are used (`deploy/local`), as `manage.py up` started them.
`DEMONSTRATION=1` is a house on a bare loopback address: no TLS, so cookies without the `__Host-` prefix. It is
set by `manage.py up` and by tests; `check --deploy` refuses it, and refuses `SIGNATURES=on_duty`.
"""

from __future__ import annotations

import secrets
from typing import Any

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from deploy import environment, logs
from deploy.local import paths

BASE_DIR = paths.CLONE

# ── The house ────────────────────────────────────────────────────────────────────────────────────────
PROPERTY: dict[str, Any] = {
    "code": environment.text("PROPERTY_CODE", "POKDENG"),
    "zone": environment.text("PROPERTY_ZONE", "Asia/Bangkok"),
    "day_start_hour": environment.number("PROPERTY_DAY_START_HOUR", default=6, least=0, most=23),
    "currency": environment.text("PROPERTY_CURRENCY", "THB"),
}
# The cage that issues slips and pays pay slips where a request names none.
MAIN_CAGE = environment.text("MAIN_CAGE", "C1")
# Cashier systems that keep wallets themselves: seconds in which they must have answered for holds, all together;
# minutes after which a call that they did not acknowledge is a break.
CASHIER_SYSTEMS = {
    "answer_seconds": environment.number("CASHIER_SYSTEM_ANSWER_SECONDS", default=3, least=1, most=10),
    "overdue_minutes": environment.number("CASHIER_SYSTEM_OVERDUE_MINUTES", default=15, least=1, most=1440),
}
# Disputes: hours until one must be decided, the amount (minor units) above which two people decide, minutes of a claim.
DISPUTES = {
    "deadline_hours": environment.number("DISPUTE_DEADLINE_HOURS", default=72, least=1, most=8760),
    "threshold": environment.number("DISPUTE_THRESHOLD", default=500_000, least=0, most=10**12),
    "lease_minutes": environment.number("DISPUTE_LEASE_MINUTES", default=10, least=1, most=120),
}
# The longest life, in days, that a key of another system may be given.
API_KEY_DAYS = environment.number("API_KEY_DAYS", default=400, least=1, most=3660)
# Cash, in minor units. In a gaming day one person's cash in, or out, of more than `report` is reported; acts from `log`
# on stand in the running log and name the person; a buy-in above `sign_off` needs a supervisor; a deposit or withdrawal
# above `second_person` needs another cashier.
CASH = {
    "report": environment.number("CASH_REPORT_LIMIT", default=200_000_000, least=0, most=10**12),
    "log": environment.number("CASH_LOG_LIMIT", default=10_000_000, least=0, most=10**12),
    "sign_off": environment.number("CASH_SIGN_OFF_LIMIT", default=20_000_000, least=0, most=10**12),
    "second_person": environment.number("CASH_SECOND_PERSON_LIMIT", default=50_000_000, least=0, most=10**12),
}
# From when on a count's difference (minor units, of either sign) is written up, told to surveillance, told to the
# regulator: `2026-01-01 >=10000 >90000 >=360000`, further dates behind a comma. What is below is posted, and no more.
VARIANCE_LIMITS: list[dict[str, str]] = [
    dict(zip(("from", "note", "incident", "notify"), words.split(), strict=True))
    for words in environment.words("VARIANCE_LIMITS", default="2026-01-01 >=10000 >90000 >=360000")
]
# Webhooks: seconds of a worker's claim, hours for which a replaced secret still signs, a file of certificate
# authorities beside a private network's receivers (empty: the system's). A demonstration may send without TLS, to its
# own machine and to private networks that nobody named; `check --deploy` refuses it.
WEBHOOKS: dict[str, Any] = {
    "lease_seconds": environment.number("WEBHOOK_LEASE_SECONDS", default=30, least=1, most=600),
    "rotation_hours": environment.number("WEBHOOK_ROTATION_HOURS", default=24, least=1, most=720),
    "ca_file": environment.text("WEBHOOK_CA_FILE"),
    "demonstration": environment.flag("WEBHOOK_DEMONSTRATION", default=False),
}
# Integrity analytics: below these odds (basis points) that a full deck hides any card so long, the deck is counted.
ANALYTICS = {
    "deck_odds_bp": environment.number("DECK_ODDS_BP", default=200, least=1, most=5_000),
}
# Statements of others: hours after a gaming day's end until a line or an entry without its pair is a break.
STATEMENTS = {"grace_hours": environment.number("STATEMENTS_GRACE_HOURS", default=24, least=0, most=240)}
# Reconciliation: seconds of a worker's claim, records in a chunk (ten seconds of work at most), seconds between the end
# of what a run looks at and its beginning, minutes that one side may come later than the other, seconds that an act may
# wait for its leaf, minutes after a gaming day's end at which its nightly run begins.
RECONCILE = {
    "lease_seconds": environment.number("RECONCILE_LEASE_SECONDS", default=30, least=1, most=600),
    "chunk_size": environment.number("RECONCILE_CHUNK_SIZE", default=1000, least=1, most=100_000),
    "margin_seconds": environment.number("RECONCILE_MARGIN_SECONDS", default=60, least=0, most=3600),
    "grace_minutes": environment.number("RECONCILE_GRACE_MINUTES", default=15, least=0, most=1440),
    "seal_lag_seconds": environment.number("RECONCILE_SEAL_LAG_SECONDS", default=60, least=1, most=3600),
    "nightly_after_minutes": environment.number(
        "RECONCILE_NIGHTLY_AFTER_MINUTES", default=30, least=1, most=720
    ),
}
# Who listens to every act. Without it nothing can be done: `announce` raises.
WITNESS = environment.text("WITNESS", "audit.log.witness")
FIRST_ENTRY = "audit.log.first_at"
# Whether a ruling needs its supervisor's signature, or a supervisor on duty at the table is enough.
SIGNATURES = environment.choice("SIGNATURES", default="required", among=("required", "on_duty"))
# The log's name, where its checkpoints go (a folder outside the database, best on another machine), and the file of
# the key that signs them, for the sealer's eyes alone.
LOG_ORIGIN = environment.text("LOG_ORIGIN", "pokdeng")
CHECKPOINT_FOLDER = environment.text("CHECKPOINT_FOLDER") or str(paths.FOLDER / "checkpoints")
SEAL_KEY_FILE = environment.text("SEAL_KEY_FILE") or str(paths.FOLDER / "sealer" / "key")
DEMONSTRATION = environment.flag("DEMONSTRATION", default=False)
# What this process does: it decides time-outs. "web" for commands too.
PROCESS = environment.choice("PROCESS", default="web", among=("web", "worker", "beat", "sealer"))

# ── Django ───────────────────────────────────────────────────────────────────────────────────────────
DEBUG = False
if PROCESS == "sealer":
    # A role of its own: it alone numbers leaves and signs, and changes nothing else.
    DATABASE_URL = environment.text("DATABASE_SEALER_URL") or paths.database_url(role="pokdeng_sealer") or ""
else:
    DATABASE_URL = environment.text("DATABASE_URL") or paths.database_url(role="pokdeng_app") or ""
LOCAL = not environment.text("DATABASE_URL")
SECRET_KEY = environment.text("SECRET_KEY")
if not SECRET_KEY:
    if not LOCAL and not DEMONSTRATION:
        raise ImproperlyConfigured("SECRET_KEY is missing: set it to 50 random characters or more.")
    # Before the first `up` there is no secret yet, and nothing it could sign either.
    SECRET_KEY = paths.django_secret() or secrets.token_urlsafe(48)
SECRET_KEY_FALLBACKS = environment.words("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = environment.words(
    "ALLOWED_HOSTS", default="127.0.0.1,localhost,[::1]" if LOCAL or DEMONSTRATION else ""
)
ROOT_URLCONF = "deploy.urls"
WSGI_APPLICATION = "deploy.wsgi.application"
AUTH_USER_MODEL = "casino.Person"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "deploy",  # first: its migrate, test and templates go before those of others
    "casino",
    "settlement",
    "audit",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "deploy.request_ids.RequestIds",
    "deploy.unstorable.NoNul",
    "deploy.edge.OnlyOurProxy",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "deploy.edge.Sessions",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
# ── Database ─────────────────────────────────────────────────────────────────────────────────────────
STATEMENT_TIMEOUT_MS = 10_000 if PROCESS == "web" else 30_000


def _timeouts(*, statement_ms: int) -> str:
    return f"-c lock_timeout=2000 -c statement_timeout={statement_ms} -c idle_in_transaction_session_timeout=10000"


def _connection(url: str, *, statement_ms: int) -> dict[str, Any]:
    found = environment.database(url or "postgresql://pokdeng_app@127.0.0.1:1/not-started")
    found["OPTIONS"] |= {
        "options": _timeouts(statement_ms=statement_ms),
        "application_name": f"pokdeng-{PROCESS}",
        "connect_timeout": 5,
        "tcp_user_timeout": 10_000,
        # Half of the database's time in a settlement was planning the same few statements, each time anew. What comes
        # a third time is prepared: a statement that comes once would push another out. A pooler between us and the
        # server that hands out connections by transaction needs this off.
        "server_side_binding": True,
        "prepare_threshold": 2 if environment.flag("DATABASE_PREPARE", default=True) else None,
    }
    return found


DATABASES: dict[str, dict[str, Any]] = {
    "default": _connection(DATABASE_URL, statement_ms=STATEMENT_TIMEOUT_MS)
}
DATABASES["default"]["ATOMIC_REQUESTS"] = False
# Asked whether it still answers before a request or task is given it: an empty query, and no answer is lost to a
# connection that the server ended meanwhile.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
_pool = environment.number("DATABASE_POOL", default=0, least=0, most=100)
if _pool:
    # Threads of one process share connections; without a pool each thread opens its own.
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": _pool, "timeout": 5}
else:
    DATABASES["default"]["CONN_MAX_AGE"] = environment.number("CONN_MAX_AGE", default=0, least=0, most=3600)
# For `migrate` alone: an administrator who may act as pokdeng_owner. Web and worker are started without it.
DATABASE_OWNER_URL = environment.text("DATABASE_OWNER_URL")
# For `check_books` and reports: reads everything in one long transaction, changes nothing.
DATABASE_READER_URL = environment.text("DATABASE_READER_URL")
if LOCAL:
    DATABASE_OWNER_URL = DATABASE_OWNER_URL or paths.database_url(role=paths.ADMINISTRATOR) or ""
    DATABASE_READER_URL = DATABASE_READER_URL or paths.database_url(role="pokdeng_reader") or ""
SESSION_ENGINE = "django.contrib.sessions.backends.db"
# No cache: a cached amount is a second truth, and a cached counter is bypassed by parallel requests.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}

# ── Language and time ────────────────────────────────────────────────────────────────────────────────
LANGUAGE_CODE = "en"
LANGUAGES = [("th", "ไทย"), ("en", "English")]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# ── Files ────────────────────────────────────────────────────────────────────────────────────────────
STATIC_URL = "/static/"
STATIC_ROOT = environment.text("STATIC_ROOT") or None
_static_files = (
    "whitenoise.storage.CompressedManifestStaticFilesStorage"
    if STATIC_ROOT
    else ("django.contrib.staticfiles.storage.StaticFilesStorage")
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},  # the service keeps no uploads
    "staticfiles": {"BACKEND": _static_files},
}
WHITENOISE_USE_FINDERS = STATIC_ROOT is None
DATA_UPLOAD_MAX_MEMORY_SIZE = 262_144  # a body of 256 kB; a statement file has its own door

# ── People ───────────────────────────────────────────────────────────────────────────────────────────
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTHENTICATION_BACKENDS = ["casino.people.BadgeAndPassword"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "admin:login"

# ── What a browser is told ───────────────────────────────────────────────────────────────────────────
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "worker-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "img-src": [SELF, "data:"],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "report-uri": "/csp-reports/",
    }
}
_tls = not DEMONSTRATION
_prefix = "__Host-" if _tls else ""
SESSION_COOKIE_NAME = f"{_prefix}sessionid"
SESSION_COOKIE_SECURE = _tls
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Strict"
SESSION_COOKIE_AGE = 12 * 3600
CSRF_COOKIE_NAME = f"{_prefix}csrftoken"
CSRF_COOKIE_SECURE = _tls
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Strict"
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS")
SECURE_SSL_REDIRECT = _tls
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # asked from inside, without TLS
BEHIND_PROXY = environment.flag("BEHIND_TLS_PROXY", default=False)
# From whom the two headers of a proxy are taken: addresses or networks. From anybody else they are dropped.
PROXY_ADDRESSES = environment.words("PROXY_ADDRESSES", default="127.0.0.1,::1")
if BEHIND_PROXY:
    # One trusted hop, which drops what came from outside under this name.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if _tls else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = _tls
SECURE_HSTS_PRELOAD = _tls
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# ── The API ──────────────────────────────────────────────────────────────────────────────────────────
REST_FRAMEWORK = {
    # A view that does not say who may use it is closed.
    "DEFAULT_PERMISSION_CLASSES": ["casino.api.rights.Declared"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "deploy.openapi.schema.Described",
    "EXCEPTION_HANDLER": "deploy.errors.problem",
    "UNICODE_JSON": True,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Pok Deng back office",
    "DESCRIPTION": "Tables record what happened; rounds are judged and posted to the satang; every act is witnessed.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [],  # enumerations stand where they are used, without made-up names
}

# ── Wake-up calls ────────────────────────────────────────────────────────────────────────────────────
# A message only rings the bell: it carries ids, and the worker reads everything from PostgreSQL.
REDIS_URL = environment.text("REDIS_URL") or paths.redis_url() or "redis://127.0.0.1:1/0"
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
    "visibility_timeout": 120,
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
}
if PROCESS == "web":
    # Ringing never holds up an answer; the sweep finds what was not rung.
    CELERY_BROKER_TRANSPORT_OPTIONS |= {
        "socket_timeout": 0.05,
        "socket_connect_timeout": 0.05,
        "max_retries": 0,
    }
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = 60
CELERY_TASK_SOFT_TIME_LIMIT = 45
CELERY_TASK_IGNORE_RESULT = True
CELERY_RESULT_BACKEND = None
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20
CELERY_WORKER_ENABLE_SOFT_SHUTDOWN_ON_IDLE = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # whoever reaches the broker could end every worker
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    # Closed rounds that nobody asked to settle. An unheard bell is worth nothing after the next one has rung.
    "settle what nobody asked for": {"task": "settlement.sweep", "schedule": 2.0, "options": {"expires": 10}},
    # What is owed to be told and due: an act rings for its own, this finds what nobody rang for and what is due again.
    "deliver what is due": {"task": "settlement.deliver", "schedule": 5.0, "options": {"expires": 10}},
    # What is owed to cashier systems that keep wallets, and what became overdue of it.
    "call cashier systems": {"task": "settlement.call_cashiers", "schedule": 5.0, "options": {"expires": 10}},
    "watch cashier systems": {
        "task": "settlement.watch_cashiers",
        "schedule": 15.0,
        "options": {"expires": 30},
    },
    # The gaming day begins, and shifts that nobody closed end.
    "turn the day": {"task": "settlement.days", "schedule": 30.0, "options": {"expires": 60}},
    # Rights that were given from a moment on, or until one.
    "turn people's rights": {"task": "settlement.turn_people", "schedule": 30.0, "options": {"expires": 60}},
    # Statements of sealed days, and what others' lines match.
    "statements": {"task": "settlement.statements", "schedule": 5.0, "options": {"expires": 30}},
    # The books compared: chunks that wait or were left, those about the log, and the day that ended.
    "compare the books": {"task": "settlement.reconcile", "schedule": 5.0, "options": {"expires": 10}},
    "compare the log": {"task": "audit.reconcile", "schedule": 5.0, "options": {"expires": 10}},
    "compare the day": {
        "task": "settlement.reconcile_nightly",
        "schedule": 300.0,
        "options": {"expires": 250},
    },
    # Failed sign-ins, once their minute is over.
    "tell failed sign-ins": {
        "task": "casino.tell_failures",
        "schedule": 15.0,
        "options": {"expires": 30},
    },
    # What was sealed since, as flags.
    "read on for flags": {"task": "audit.read_flags", "schedule": 2.0, "options": {"expires": 10}},
    # The second look at what was settled since.
    "look again": {"task": "audit.inspect", "schedule": 10.0, "options": {"expires": 30}},
    # Decks in play: whether a card has been absent for too long.
    "watch decks": {"task": "audit.watch_decks", "schedule": 3.0, "options": {"expires": 10}},
    # Integrity analytics: days that ended are asked for within the quarter of an hour, and done one after the other.
    "ask for ended days": {"task": "audit.ask_analytics", "schedule": 900.0, "options": {"expires": 600}},
    "look at days": {"task": "audit.analyse", "schedule": 60.0, "options": {"expires": 50}},
}

# ── What is written down about the running of it ─────────────────────────────────────────────────────
LOGGING = logs.configuration(
    level=environment.choice("LOG_LEVEL", default="INFO", among=("DEBUG", "INFO", "WARNING"))
)

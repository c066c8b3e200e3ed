"""Settings of the shop. SHOP_DATABASE is the connection string of its database."""

import os

import django
from psycopg.conninfo import conninfo_to_dict

from postmill import Constant

parts = conninfo_to_dict(os.environ["SHOP_DATABASE"])
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts["dbname"],
        "USER": parts["user"],
        "HOST": parts["host"],
        "PORT": parts["port"],
        "ATOMIC_REQUESTS": True,
    }
}
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    *([] if django.VERSION >= (6,) else ["django_tasks"]),
    "postmill.contrib.django",
    "shop",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
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
POSTMILL = {"CONSOLE_URL": "https://postmill.example/ops"}
TASKS = {
    "default": {
        "BACKEND": "postmill.contrib.django.PostmillBackend",
        "QUEUES": ["default", "low"],
        "OPTIONS": {"max_attempts": 2, "retry": Constant(0.01)},
    }
}
ALLOWED_HOSTS = ["*"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
ROOT_URLCONF = "shop.urls"
SECRET_KEY = "only for tests"
USE_TZ = True

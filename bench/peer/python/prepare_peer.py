"""Creates the tables of the peer and its client: prepare_peer.py NAME PASSWORD COLLECTION."""

import sys

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from swh.deposit.models import DepositClient, DepositCollection  # noqa: E402

name, password, collection = sys.argv[1:]
call_command("migrate", verbosity=0)
granted = DepositCollection.objects.create(name=collection)
client = DepositClient(
    username=name, collections=[granted.id], provider_url="https://bench.example/", domain="bench.example/"
)
client.set_password(password)
client.save()

"""The second operation needs Postmill's schema."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [  # noqa: RUF012
        migrations.CreateModel(
            name="Order",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("cents", models.IntegerField()),
                ("receipts", models.IntegerField(default=0)),
                ("job_id", models.UUIDField(null=True)),
            ],
        ),
        migrations.RunSQL("create view shop_jobs as select * from postmill.jobs", "drop view shop_jobs"),
    ]

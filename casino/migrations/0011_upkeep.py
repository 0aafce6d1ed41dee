from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("casino", "0010_codes_of_people"),
    ]

    operations = [
        migrations.CreateModel(
            name='Sweep',
            fields=[
                ('name', models.CharField(max_length=60, primary_key=True, serialize=False)),
                ('began_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('failed_at', models.DateTimeField(null=True)),
                ('fault', models.CharField(blank=True, default='', max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name='UnreadCount',
            fields=[
                ('reason', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('count', models.BigIntegerField()),
                ('last_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Aside',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('work', models.CharField(max_length=60)),
                ('subject', models.CharField(max_length=200)),
                ('fault', models.CharField(max_length=300)),
                ('times', models.IntegerField()),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
                ('due_at', models.DateTimeField()),
                ('solved_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('solved_at', None)), fields=['work', 'subject'], name='aside_standing_still')],
                'constraints': [models.UniqueConstraint(fields=('work', 'subject'), name='aside_once_per_work_and_subject')],
            },
        ),
        migrations.CreateModel(
            name='Program',
            fields=[
                ('name', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('running', 'Running'), ('given_up', 'Given Up')], max_length=10)),
                ('ended', models.IntegerField()),
                ('said', models.CharField(blank=True, default='', max_length=300)),
                ('changed_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['running', 'given_up'])), name='program_state_known')],
            },
        ),
        migrations.CreateModel(
            name='Unread',
            fields=[
                ('place', models.SmallIntegerField(primary_key=True, serialize=False)),
                ('reason', models.CharField(max_length=40)),
                ('content', models.BinaryField()),
                ('length', models.BigIntegerField(help_text='bytes of the message; 4,096 of them are kept')),
                ('came_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('place__gte', 0), ('place__lt', 100)), name='unread_in_a_hundred_places')],
            },
        ),
    ]

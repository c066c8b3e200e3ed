-- The places whose weather is shown, their hours to come, and what they are warned of.

create table if not exists weather_places (
    id uuid primary key default gen_random_uuid(),
    name text not null,
    latitude numeric(7, 4) not null check (latitude between -90 and 90),
    longitude numeric(7, 4) not null check (longitude between -180 and 180),
    country text not null check (country = upper(country) and length(country) = 2),   -- ISO 3166
    -- The National Weather Service is that of the USA and its territories.
    provider text not null generated always as (
        case when country in ('US', 'PR', 'GU', 'VI', 'AS', 'MP') then 'nws' else 'open_meteo' end) stored,
    is_active boolean not null default true,
    grid text,                              -- where the Service has the place: office/x,y
    forecast_at timestamptz,                -- the last success
    forecast_error text,                    -- of what came after it
    alerts_at timestamptz,
    alerts_error text,
    created_at timestamptz not null default postmill.now()
);

create table if not exists weather_forecasts (
    place_id uuid not null references weather_places on delete cascade,
    starts_at timestamptz not null,         -- of an hour
    temperature_c numeric(5, 1) not null,
    wind_kmh numeric(5, 1),
    precipitation_percent smallint,
    summary text not null,
    updated_at timestamptz not null default postmill.now(),
    primary key (place_id, starts_at)
);

create table if not exists weather_alerts (
    place_id uuid not null references weather_places on delete cascade,
    alert_id text not null,                 -- as its office has named it
    event text not null,
    severity text not null,
    headline text not null,
    description text not null,
    instruction text not null,
    onset_at timestamptz,
    expires_at timestamptz not null,        -- the end of what it warns of, else of the warning
    updated_at timestamptz not null default postmill.now(),
    primary key (place_id, alert_id)
);

-- What is shown. An alert that has expired is none, also while nobody can be asked.
create or replace view weather_warnings as
select a.*, p.name as place
  from weather_alerts a
  join weather_places p on p.id = a.place_id
 where p.is_active and a.expires_at > (select postmill.now());

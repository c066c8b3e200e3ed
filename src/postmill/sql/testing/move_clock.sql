-- Moves a frozen clock: to $1, or by $2.
update {schema}.frozen_clock c set at = coalesce($1::timestamptz, c.at + $2::interval) returning c.at

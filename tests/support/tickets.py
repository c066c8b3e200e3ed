"""Changes a ticket by hand, as an operator's SQL must: taken out and put in anew, in one statement."""

from __future__ import annotations


def changed(table: str, values: str, where: str) -> str:
    """The statement that gives the tickets of `table` `where` … new `values`: an SQL expression of a jsonb object."""
    return f"""with gone as (delete from postmill.{table} where {where} returning *)
        insert into postmill.{table}
        select (jsonb_populate_record(row(gone.*)::postmill.{table}, {values})).* from gone"""

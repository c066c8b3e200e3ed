"""Postmill in a Flask application: a client, handlers in the application's context, and `flask postmill`.

    postmill = Postmill()          # and in the factory: postmill.init_app(app)

    @app.post("/orders")
    def order():
        postmill.client.enqueue(send_receipt.new(order=1))

Where an order is written in a transaction of yours, enqueue in that: `enqueue(db.session, job)`.
"""

from postmill.contrib.flask.extension import Postmill

__all__ = ["Postmill"]

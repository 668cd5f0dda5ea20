"""The one durable `ask`: pace, patience, money and care."""

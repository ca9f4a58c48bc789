# Patroni runs this once, on the first leader, with the address of PostgreSQL as argument.
exec psql "$1" -v ON_ERROR_STOP=1 -q \
    -c "CREATE ROLE fermata LOGIN PASSWORD '${FERMATA_PASSWORD}'" \
    -c "CREATE DATABASE fermata OWNER fermata"

export { type PostgresServer, type PostgresServerOptions, startPostgres } from './postgres-server.ts'
export { openSocketProxy, type SocketProxy } from './socket-proxy.ts'

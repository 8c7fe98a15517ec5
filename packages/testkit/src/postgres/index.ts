export { type FakeS3, startFakeS3 } from './fake-s3.ts'
export { hasPgBouncer, openPgBouncer } from './pgbouncer.ts'
export { openPooler, type Pooler } from './pooler.ts'
export {
  type PostgresServer,
  type PostgresServerOptions,
  type PostgresStandby,
  startPostgres,
} from './postgres-server.ts'
export { openSocketProxy, type SocketProxy } from './socket-proxy.ts'

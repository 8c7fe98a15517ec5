export { createSecret, hashToken } from '../tokens/token-secret.ts'
export type { AccessToken } from './auth/access.ts'
export { openSpoolDir } from './bodies/spool-dir.ts'
export { type HoldfastServer, openServer, type ServerOptions } from './open-server.ts'

export { type AccessToken, createSecret, hashToken, type TokenRole } from './auth/access.ts'
export { openSpoolDir } from './http/spool-dir.ts'
export { type HoldfastServer, openServer, type ServerOptions } from './open-server.ts'

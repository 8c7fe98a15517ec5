export { type AccessToken, createSecret, hashToken, type Role } from './auth/token.ts'
export { type HoldfastServer, openServer, type ServerOptions } from './open-server.ts'
export type { Problem } from './server-parts.ts'

export { type AccessToken, createSecret, hashToken, type TokenRole } from './auth/access.ts'
export { type HoldfastServer, openServer, type ServerOptions } from './open-server.ts'

export { type AccessToken, createSecret, hashToken, type TokenRole } from './auth/token.ts'
export { type HoldfastServer, openServer, type ServerOptions } from './open-server.ts'

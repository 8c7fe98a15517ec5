export { type AccessToken, createSecret, hashToken, type TokenRole } from './auth/authenticate.ts'
export { type HoldfastServer, openServer, type ServerOptions } from './open-server.ts'

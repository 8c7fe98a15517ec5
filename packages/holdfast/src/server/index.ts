export { type AccessToken, createSecret, hashToken, type Role } from './auth/token.ts'
export { type HoldfastServer, openServer, type ServerOptions } from './open-server.ts'

// Only for the other packages of this repository. The published package does not export this.
export { createHoldfastMethods } from './holdfast/holdfast-methods.ts'
export { confirmSaved } from './holdfast/save-session.ts'
export { decodeNodeNews } from './http/decode-stream.ts'
export { connectWire } from './remote/connect-sessions.ts'
export { createRemoteOfferTrust } from './remote/remote-offer-trust.ts'
export { createRemotePermissions } from './remote/remote-permissions.ts'
export { requireOptions } from './session/arguments.ts'
export { createTurnSummary, type TurnEnded, type TurnSummary } from './session/turn-summary.ts'

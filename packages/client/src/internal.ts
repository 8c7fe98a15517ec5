// Only for the other packages of this repository. The published package does not export this.
export { createHoldfastMethods } from './holdfast/holdfast-methods.ts'
export { confirmSaved } from './holdfast/save-session.ts'
export { requireOptions } from './session/arguments.ts'
export { createTurnSummary, type TurnEnded, type TurnSummary } from './session/turn-summary.ts'

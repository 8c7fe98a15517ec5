export {
  after,
  aHash,
  anInstant,
  approvedBy,
  aSession,
  askedFor,
  callOf,
  factsFor,
  queued,
  recordsOf,
  requested,
  said,
  settled,
  started,
  stepEnded,
  thinking,
  turnEnded,
} from './a-log.ts'
export { aMessage, aToolCall } from './a-message.ts'
export { aMeta } from './a-meta.ts'
export { aFrame, aRecord, type Given } from './a-record.ts'
export { aRequest, userSays } from './a-request.ts'
export { aTool } from './a-tool.ts'
export { aView } from './a-view.ts'
export type { AnswerBlock, AnthropicAnswer, Detour, WireUsage } from './anthropic-answer.ts'
export { type AnthropicServer, type ReceivedRequest, startAnthropicServer } from './anthropic-server.ts'
export { createDice, type Dice } from './dice.ts'
export { createFaultyStore, diskFull, type FaultyStore } from './faulty-store.ts'
export { createGate, type Gate } from './gate.ts'
export { type House, type HouseOptions, isRecord, openHouse } from './open-house.ts'
export {
  call,
  createScriptedModel,
  fail,
  finish,
  modelsOf,
  mumble,
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptStep,
  say,
  scriptedUsage,
  think,
  waitAt,
} from './scripted-model.ts'
export { validateHistory } from './validate-history.ts'
export { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

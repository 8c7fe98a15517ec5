export { aRequest, userSays } from './a-request.ts'
export type { AnswerBlock, AnthropicAnswer, Detour, WireUsage } from './anthropic-answer.ts'
export { type AnthropicServer, type ReceivedRequest, startAnthropicServer } from './anthropic-server.ts'
export { createDice, type Dice } from './dice.ts'
export { createFaultyStore, diskFull, type FaultyStore } from './faulty-store.ts'
export { createGate, type Gate } from './gate.ts'
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

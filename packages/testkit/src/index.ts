export type * from '@holdfast/core/ports'
export type * from '@holdfast/protocol/public-types'
export { aGif, aJpeg, anAlphaWebp, aPdf, aPng, aWebp, aWebpWithoutLoss } from './fixtures/file.ts'
export {
  aCheckpoint,
  aHash,
  aLineMove,
  anInstant,
  approvedBy,
  aQuestion,
  aSession,
  askedFor,
  type CallFacts,
  callOf,
  factsFor,
  questionFor,
  queued,
  recordsOf,
  requested,
  settled,
  started,
  stateAfter,
  stepEnded,
  thinking,
  turnEnded,
  userSaid,
} from './fixtures/log.ts'
export { aRequest, aSubagentTool, aTool, userSays } from './fixtures/request.ts'
export {
  aFrame,
  aMessage,
  aMeta,
  aRecord,
  aToolCall,
  aView,
  type CommonFields,
  type EventInput,
  type FrameInput,
  type MessageFields,
  type MessageInput,
  type MessageInputOf,
  type MessageKind,
  type RecordFields,
  type WithoutSession,
} from './fixtures.ts'
export { createDice, type Dice } from './runtime/dice.ts'
export { fakeFiles } from './runtime/fake-files.ts'
export { fakePermissions } from './runtime/fake-permissions.ts'
export { fakeServers } from './runtime/fake-servers.ts'
export { fakeSkills } from './runtime/fake-skills.ts'
export { createFaultyStore, diskFull, type FaultyStore } from './runtime/faulty-store.ts'
export { createGate, type Gate } from './runtime/gate.ts'
export { createScriptedHooks, type HookScript, type ScriptedHookAnswer } from './runtime/scripted-hooks.ts'
export {
  call,
  createScriptedModel,
  fail,
  finish,
  finishUncounted,
  modelsOf,
  modelsWith,
  overload,
  type PartMeta,
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptStep,
  say,
  sayPartial,
  scriptedUsage,
  think,
  waitAt,
} from './runtime/scripted-model.ts'
export { openSignInServer, type SignInServer, type SignInsSeen } from './runtime/sign-in-server.ts'
export { isRecord, openTestRuntime, type TestRuntime, type TestRuntimeOptions } from './runtime/test-runtime.ts'
export { createVirtualClock, type VirtualClock } from './runtime/virtual-clock.ts'
export type { AnswerBlock, AnthropicAnswer, WireUsage } from './strict/anthropic/answer.ts'
export { type AnthropicServer, createAnthropicApi, startAnthropicServer } from './strict/anthropic/server.ts'
export {
  type AnyBlock,
  type AnyStrictAnswer,
  type AnyStrictServer,
  type StrictService,
  strictServices,
} from './strict/any-server.ts'
export type { Dribble, MessageOf, StreamDisruption, StreamError, StrictAnswer } from './strict/base/answer.ts'
export {
  type ApiRequest,
  type ReceivedRequest,
  type SseEvent,
  type StrictApi,
  type StrictServer,
  sseEvents,
  sseText,
} from './strict/base/server.ts'
export type { GeminiAnswer, GeminiBlock, GeminiUsage } from './strict/gemini/answer.ts'
export { createGeminiApi, type GeminiServer, startGeminiServer } from './strict/gemini/server.ts'
export type { ChatAnswer, ChatBlock, ChatUsage } from './strict/openai-chat/answer.ts'
export { createOpenAiChatApi, type OpenAiChatServer, startOpenAiChatServer } from './strict/openai-chat/server.ts'
export type { ResponsesAnswer, ResponsesBlock, ResponsesUsage } from './strict/openai-responses/answer.ts'
export {
  createOpenAiResponsesApi,
  type OpenAiResponsesServer,
  startOpenAiResponsesServer,
} from './strict/openai-responses/server.ts'
export { type ProxiedRequest, type StrictProxy, startStrictProxy } from './strict/proxy.ts'
export { type HistoryProvider, historyModels, historyProviders } from './validate-history/providers.ts'
export { validateHistory } from './validate-history/validate-history.ts'

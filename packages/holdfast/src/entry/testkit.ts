import { isPackageMissing } from '../system/system-error.ts'

/** The testkit is an optional peer: programs install it for their tests only. */
const testkit = await import('@holdfast/testkit').catch((error: unknown) => {
  if (!isPackageMissing(error, '@holdfast/testkit')) throw error
  const message = 'holdfast/testkit needs the package @holdfast/testkit. Install it: npm install -D @holdfast/testkit'
  throw new Error(message, { cause: error })
})

/** The contract suites run in vitest, which programs install for their tests. */
const contracts = await import('@holdfast/testkit/contracts').catch((error: unknown) => {
  if (!isPackageMissing(error, 'vitest')) throw error
  return null
})
const needsVitest = (): never => {
  throw new Error('The contract suites of holdfast/testkit need the package vitest. Install it: npm install -D vitest')
}

/** Tests a store of your own: everything the runtime requires of it. */
export const describeStore: typeof import('@holdfast/testkit/contracts').describeStore =
  contracts?.describeStore ?? needsVitest
/** Tests the blobs of your own. */
export const describeBlobs: typeof import('@holdfast/testkit/contracts').describeBlobs =
  contracts?.describeBlobs ?? needsVitest
/** Tests a provider of your own. */
export const describeProvider: typeof import('@holdfast/testkit/contracts').describeProvider =
  contracts?.describeProvider ?? needsVitest
/** Tests a tool of your own. */
export const describeTool: typeof import('@holdfast/testkit/contracts').describeTool =
  contracts?.describeTool ?? needsVitest
export type { OpenStore, ProviderSubject, ToolSample } from '@holdfast/testkit/contracts'

// Listed one by one, because `export *` would fail to link before the error above can be thrown.
export const {
  aCheckpoint,
  aFrame,
  aGif,
  aHash,
  aJpeg,
  aLineMove,
  aMessage,
  aMeta,
  anAlphaWebp,
  anInstant,
  aPdf,
  aPng,
  approvedBy,
  aRecord,
  aRequest,
  aSession,
  aSubagentTool,
  aQuestion,
  askedFor,
  aTool,
  aToolCall,
  aView,
  aWebp,
  aWebpWithoutLoss,
  call,
  callOf,
  createAnthropicApi,
  createDice,
  createFaultyStore,
  createGate,
  createGeminiApi,
  createOpenAiChatApi,
  createOpenAiResponsesApi,
  createScriptedHooks,
  createScriptedModel,
  createVirtualClock,
  diskFull,
  factsFor,
  fail,
  fakeFiles,
  fakePermissions,
  fakeServers,
  fakeSkills,
  finish,
  finishUncounted,
  historyModels,
  historyProviders,
  isRecord,
  modelsOf,
  modelsWith,
  openSignInServer,
  openTestRuntime,
  overload,
  questionFor,
  queued,
  recordsOf,
  requested,
  userSaid,
  say,
  sayPartial,
  scriptedUsage,
  settled,
  sseEvents,
  sseText,
  startAnthropicServer,
  started,
  startGeminiServer,
  startOpenAiChatServer,
  startOpenAiResponsesServer,
  startStrictProxy,
  stateAfter,
  stepEnded,
  strictServices,
  think,
  thinking,
  turnEnded,
  userSays,
  validateHistory,
  waitAt,
} = testkit
export type * from '@holdfast/testkit'

import { buildRequest, loadSession } from '@holdfast/core'
import type { Blobs, Store } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { historyModels, historyProviders, validateHistory } from '@holdfast/testkit'
import { readFiles } from '../../packages/core/src/runtime/blobs/read-blob.ts'
import { readWindow } from '../../packages/core/src/runtime/log/read-window.ts'
import { openCalls } from '../../packages/core/src/session/state.ts'
import type { SessionEvidence } from './pass-criterion.ts'

/** Checks a session for P: whether every provider accepts its history, and whether it is idle. */
export async function evidenceOf(store: Store, blobs: Blobs, id: SessionId): Promise<SessionEvidence> {
  const loaded = await loadSession(store, id)
  if (!loaded.ok) return { historyProblems: [loaded.fault.message], activity: 'unreadable', isWaitingForSomeone: false }
  const { state, lost } = loaded.value
  const window = await readWindow(store, id, state)
  const parts = { thinkingLevel: state.settings.thinkingLevel, system: '', tools: [], window }
  const files = await readFiles(blobs, window)
  const problems = historyProviders.flatMap((provider) =>
    validateHistory(provider, buildRequest({ ...parts, files, model: historyModels[provider] })),
  )
  const open = openCalls(state)
  return {
    historyProblems: [...problems, ...lost.map((seq) => `record ${seq} is lost`)],
    activity: state.turn.phase,
    isWaitingForSomeone: open.length > 0 && open.every(({ status }) => status === 'asked'),
  }
}

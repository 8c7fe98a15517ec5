import { createLocalSessions, type LocalSessions } from '@holdfast/core'
import type { Models } from '@holdfast/core/ports'
import { openTestRuntime, say, type TestRuntime, type TestRuntimeOptions } from '@holdfast/testkit'
import { createMemoryBlobs } from '../../store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../store/memory/memory-store.ts'
import type { LiveTokens } from '../../tokens/live-tokens.ts'
import type { ServerOptions } from '../open-server.ts'
import { openTestServer } from './test-server.ts'

/** Opens a real server with a real runtime and one session, at `path`. Only the test advances the clock. */
export async function openRuntimeServer(
  overrides: Partial<ServerOptions> = {},
  models?: Models,
  options: Partial<TestRuntimeOptions> = {},
  change: (sessions: LocalSessions) => LocalSessions = (sessions) => sessions,
  tokensOf?: (runtime: TestRuntime) => LiveTokens,
) {
  const script = () => [say('Hi.')]
  const stores = { store: createMemoryStore(), blobs: createMemoryBlobs() }
  const runtime = await openTestRuntime({ ...stores, script, ...(models && { models }), ...options })
  const sessions = change(createLocalSessions(runtime.registry))
  const storedTokens = tokensOf && { storedTokens: tokensOf(runtime) }
  const test = await openTestServer({ sessions, after: runtime.clock.after, ...storedTokens, ...overrides })
  return {
    ...test,
    runtime,
    sessions,
    path: `/v1/sessions/${runtime.handle.id}`,
    async [Symbol.asyncDispose]() {
      await test[Symbol.asyncDispose]()
      await runtime.registry.close()
    },
  }
}

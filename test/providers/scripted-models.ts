import { LLMock } from '@copilotkit/aimock'
import {
  type AnyBlock,
  type AnyStrictServer,
  createGate,
  type Gate,
  type HistoryProvider,
  historyProviders,
  type ProxiedRequest,
  type StrictProxy,
  startStrictProxy,
  strictServices,
} from '@holdfast/testkit'
import { environmentAt } from './services.ts'

/** `whole` sends at once; `slow` sends the first text and then waits, so that a test can act meanwhile. */
export type Pace = 'whole' | 'slow'

/** Four scripted services at one address, which check each request by the rules of its service. */
export type ScriptedModels = AsyncDisposable & {
  readonly environment: { readonly [name: string]: string }
  readonly requests: readonly ProxiedRequest[]
  says(service: HistoryProvider, blocks: readonly AnyBlock[], pace?: Pace): void
  /** Lets slow answers finish. */
  hurry(): void
}

type AimockAnswer = { readonly blocks: readonly AnyBlock[]; readonly pace: Pace }

const slowChunkMs = 40

/** Uses aimock, a third-party mock. It has no signatures for Gemini, and its own ids and encrypted content for OpenAI. */
export async function openAimockModels(): Promise<ScriptedModels> {
  const script: AimockAnswer[] = []
  const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 20 })
  const next = () => {
    const answer = script.shift()
    if (!answer) throw new Error('the script has no more answers')
    return aimockResponse(answer.blocks)
  }
  mock.on({ predicate: () => script[0]?.pace === 'slow' }, next, { latency: slowChunkMs })
  mock.on({ predicate: () => true }, next)
  await mock.start()
  const front = await startStrictProxy(() => mock.url)
  return {
    ...describeProxy(front),
    says: (_, blocks, pace = 'whole') => void script.push({ blocks, pace }),
    hurry: () => undefined, // it continues by itself
    async [Symbol.asyncDispose]() {
      await front.close()
      await mock.stop()
    },
  }
}

/** aimock always sends thinking, then text, then calls. */
function aimockResponse(blocks: readonly AnyBlock[]) {
  const thought = blocks.find((one) => one.type === 'think')
  const text = blocks.flatMap((one) => (one.type === 'say' ? [one.text] : [])).join('')
  const calls = blocks.flatMap((one) =>
    one.type === 'call' ? [{ name: one.tool, arguments: JSON.stringify(one.args) }] : [],
  )
  return {
    ...(thought && { reasoning: thought.text, reasoningSignature: thought.opaque }),
    content: text,
    ...(calls.length > 0 && { toolCalls: calls }),
  }
}

/** Uses the strict servers of the testkit, which sign and refuse like the real ones. */
export async function openStrictModels(): Promise<ScriptedModels> {
  const servers = new Map<HistoryProvider, AnyStrictServer>()
  for (const service of historyProviders) servers.set(service, await strictServices[service].start())
  const of = (service: HistoryProvider) => servers.get(service) as AnyStrictServer // each was started
  let gates: readonly Gate[] = []
  const front = await startStrictProxy((service) => of(service).url)
  return {
    ...describeProxy(front),
    says(service, blocks, pace = 'whole') {
      if (pace === 'whole') return of(service).answer({ type: 'message', content: blocks })
      const gate = createGate()
      gates = [...gates, gate]
      const after = { events: strictServices[service].firstWords, detour: { type: 'wait', gate } } as const
      of(service).answer({ type: 'message', content: blocks, after })
    },
    hurry() {
      for (const gate of gates) gate.open()
      gates = []
    },
    async [Symbol.asyncDispose]() {
      await front.close()
      for (const server of servers.values()) await server.close()
    },
  }
}

const describeProxy = ({ url, requests }: StrictProxy) => ({ environment: environmentAt(url), requests })

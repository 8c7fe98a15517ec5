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

/** Whole: at once. Slow: its first words come, and the rest takes long enough to do something meanwhile. */
export type Pace = 'whole' | 'slow'

/** Four services at one address, that say what a story wrote down, each request judged by its service's own rules. */
export type Stage = AsyncDisposable & {
  readonly environment: { readonly [name: string]: string }
  readonly requests: readonly ProxiedRequest[]
  says(service: HistoryProvider, said: readonly AnyBlock[], pace?: Pace): void
  /** What is slow need not be so any longer. */
  hurry(): void
}

type AimockAnswer = { readonly said: readonly AnyBlock[]; readonly pace: Pace }

const slowChunkMs = 40

/** aimock, which nobody here wrote. It gives no signatures for Gemini, and ids and encrypted content of its own for OpenAI. */
export async function openAimockStage(): Promise<Stage> {
  const script: AimockAnswer[] = []
  const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 20 })
  const next = () => {
    const answer = script.shift()
    if (!answer) throw new Error('the script has no more answers')
    return aimockResponse(answer.said)
  }
  mock.on({ predicate: () => script[0]?.pace === 'slow' }, next, { latency: slowChunkMs })
  mock.on({ predicate: () => true }, next)
  await mock.start()
  const front = await startStrictProxy(() => mock.url)
  return {
    ...stageAt(front),
    says: (_, said, pace = 'whole') => void script.push({ said, pace }),
    hurry: () => undefined, // it goes on by itself
    async [Symbol.asyncDispose]() {
      await front.close()
      await mock.stop()
    },
  }
}

/** aimock says a thought, then words, then calls, whatever the service. */
function aimockResponse(said: readonly AnyBlock[]) {
  const thought = said.find((one) => one.type === 'think')
  const words = said.flatMap((one) => (one.type === 'say' ? [one.text] : [])).join('')
  const calls = said.flatMap((one) =>
    one.type === 'call' ? [{ name: one.tool, arguments: JSON.stringify(one.args) }] : [],
  )
  return {
    ...(thought && { reasoning: thought.text, reasoningSignature: thought.opaque }),
    content: words,
    ...(calls.length > 0 && { toolCalls: calls }),
  }
}

/** The strict servers of the testkit: they sign, and refuse what the real ones would. */
export async function openStrictStage(): Promise<Stage> {
  const servers = new Map<HistoryProvider, AnyStrictServer>()
  for (const service of historyProviders) servers.set(service, await strictServices[service].start())
  const of = (service: HistoryProvider) => servers.get(service) as AnyStrictServer // each was started
  let gates: readonly Gate[] = []
  const front = await startStrictProxy((service) => of(service).url)
  return {
    ...stageAt(front),
    says(service, said, pace = 'whole') {
      if (pace === 'whole') return of(service).answer({ type: 'message', content: said })
      const gate = createGate()
      gates = [...gates, gate]
      const after = { events: strictServices[service].firstWords, detour: { type: 'wait', gate } } as const
      of(service).answer({ type: 'message', content: said, after })
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

const stageAt = ({ url, requests }: StrictProxy) => ({ environment: environmentAt(url), requests })

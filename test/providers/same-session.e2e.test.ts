import { invariant, type Recorded } from '@holdfast/protocol'
import { type HistoryProvider, type ProxiedRequest, validateHistory } from '@holdfast/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cacheLost, isSameBefore, wireHistory } from '../simulation/requests/wire-history.ts'
import { type RebuiltSession, rebuildRequests } from './rebuild-requests.ts'
import { openAimockModels, openStrictModels, type ScriptedModels } from './scripted-models.ts'
import { type FinishedSession, type FinishedSessions, runSessions, serviceOf } from './scripted-session.ts'
import { cases } from './services.ts'

const stages: readonly (readonly [string, () => Promise<ScriptedModels>])[] = [
  ['aimock', openAimockModels],
  ['the strict servers', openStrictModels],
]

describe.each(stages)('the same session with each service of %s', (name, open) => {
  const opened = new AsyncDisposableStack()
  let all: FinishedSessions | null = null
  beforeAll(async () => {
    const stage = opened.use(await open())
    all = opened.use(await runSessions(stage, cases))
  })
  afterAll(() => opened.disposeAsync())

  const lives = new Map<HistoryProvider, Promise<FinishedSession & RebuiltSession>>()
  /** The result, and all requests built again from the store alone. */
  const lifeWith = (service: HistoryProvider): Promise<FinishedSession & RebuiltSession> => {
    invariant(all, 'it was lived')
    const lived = all.of(service)
    const { dataDir } = all
    const life = lives.get(service) ?? rebuildRequests(dataDir, lived.session).then((again) => ({ ...lived, ...again }))
    lives.set(service, life)
    return life
  }

  describe.each(cases)('$service', ({ service, other }) => {
    it('completes without a refused request', async () => {
      const { ends, requests } = await lifeWith(service)
      expect(ends).toEqual(['done', 'aborted', 'done', 'done', 'interrupted', 'done', 'done'])
      const elsewhere = serviceOf(other)
      expect(requests.map((request) => request.service)).toEqual([
        ...Array(4).fill(service),
        ...[elsewhere, elsewhere],
        ...Array(6).fill(service),
      ])
      expect(requests.map(({ complaint, answer }) => [complaint, answer.status])).toEqual(
        requests.map(() => [null, 200]),
      )
    })

    it('keeps all text, marks cut answers, and runs each call once', async () => {
      const { records } = await lifeWith(service)
      expect(cutTexts(records)[0]).toMatch(/^Once upon/)
      expect(cutTexts(records).slice(1)).toSatisfy((rest: string[]) => rest.every((text) => /^Until the/.test(text)))
      const started = records.flatMap(({ event }) => (event.type === 'call.started' ? [event.call] : []))
      expect(new Set(started).size).toBe(started.length)
      const outcomes = records.flatMap(({ event }) => (event.type === 'call.settled' ? [event.outcome.type] : []))
      expect(outcomes.toSorted()).toEqual(['failed', ...Array(6).fill('ok')])
    })

    it('sends the error, the steering after its round, and the cut answer to the model', async () => {
      const { requests } = await lifeWith(service)
      const firstWith = (words: string) => requests.findIndex(({ body }) => body.includes(words))
      expect(firstWith('The first file.')).toBe(1)
      expect(firstWith('gone.txt does not exist')).toBe(1)
      expect(firstWith('Mind the gap.')).toBe(2)
      expect(firstWith('Once upon a')).toBe(4)
    })

    it('sends thinking back unchanged, and only to its service', async () => {
      const { requests } = await lifeWith(service)
      let kept = 0
      for (const [at, request] of requests.entries()) {
        const before = requests.slice(0, at)
        for (const thought of before.flatMap(opaqueIn)) {
          const isOwn = thought.service === request.service
          expect(request.body.includes(JSON.stringify(thought.text)), `${thought.text} in request ${at}`).toBe(isOwn)
          if (isOwn && request.service === service) kept += 1
        }
        const foreign = { [service]: /Thought (three|four)/ }[request.service] ?? /Thought (one|two|five|six|seven)/
        expect(foreign.test(request.body), `foreign thoughts in request ${at}`).toBe(false)
      }
      // aimock does not sign for Gemini, and Chat Completions have no thinking, so nothing is sent back.
      const gives = service !== 'openai-chat' && !(service === 'gemini' && name === 'aimock')
      expect(kept > 0).toBe(gives)
    })

    it('builds the same bytes from the log, in this process and on the worker thread', async () => {
      const { requests, steps } = await lifeWith(service)
      for (const [at, { bodies, request }] of steps.entries()) {
        expect([...new Set(bodies)], `request ${at}`).toEqual([requests[at]?.body])
        expect(validateHistory(serviceOf(request.model), request)).toEqual([])
      }
      expect(steps).toHaveLength(requests.length)
    })

    it('extends each request by the next one, so that caching works', async () => {
      const { requests } = await lifeWith(service)
      for (const asked of [service, serviceOf(other)]) {
        const histories = requests.flatMap((one) => (one.service === asked ? [wireHistory(asked, one.body)] : []))
        for (const [at, later] of histories.entries()) {
          const earlier = histories[at - 1]
          if (!earlier) continue
          expect(isSameBefore(earlier, later)).toBe(true)
          expect(cacheLost(earlier, later), `request ${at} to ${asked}`).toBeNull()
        }
      }
    })
  })
})

const cutTexts = (records: readonly Recorded[]): readonly string[] =>
  records.flatMap(({ event }) => (event.type === 'text.said' && event.interrupted ? [event.text] : []))

const opaqueNames: Readonly<Record<HistoryProvider, RegExp | null>> = {
  anthropic: /"signature":"([^"]+)"/g,
  'openai-chat': null,
  'openai-responses': /"encrypted_content":"(?!unfinished)([^"]+)"/g,
  gemini: /"thoughtSignature":"([^"]+)"/g,
}

const isWhole = (text: string): boolean => /message_stop|response\.completed|finishReason/.test(text)

/** Returns the opaque data of an answer. An answer cut by the crash has none. */
function opaqueIn({ service, answer }: ProxiedRequest): readonly { service: HistoryProvider; text: string }[] {
  const pattern = opaqueNames[service]
  if (pattern === null || !isWhole(answer.text)) return []
  return [...new Set([...answer.text.matchAll(pattern)].map(([, text = '']) => text))].map((text) => ({
    service,
    text,
  }))
}

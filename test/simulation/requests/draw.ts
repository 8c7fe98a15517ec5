import type { SeedMessage, ThinkingLevel } from '@holdfast/protocol'
import fc, { type Arbitrary } from 'fast-check'
import type { ConversationMessage } from '../../../packages/holdfast/src/conversations/message.ts'
import * as steps from './commands.ts'
import type { Break } from './scripted-agents.ts'
import { allModels, isCall, type Said } from './service-apis.ts'

/** Texts that have caused invalid requests: empty, blank, unpaired surrogates, and multi-byte characters. */
const texts = fc.constantFrom('Go on.', 'Well: ', '', ' \n', 'half \ud83d', '\udc00', 'é\u{1f600} |so', 'x'.repeat(200))
const prompts = fc.constantFrom('Go on.', 'And mind this.', 'half \ud83d', 'é\u{1f600}')

const tools = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('look', 'lift', '3d', '3d') },
  { weight: 2, arbitrary: fc.constantFrom('nowhere', 'no such tool!', 'x'.repeat(100), 'ä.b', '') },
)
const args = fc.constantFrom<{ readonly [key: string]: unknown }[]>(
  {},
  { n: 1 },
  { 'k\ud800': ['\ud800', null] },
  { 2: 1e21, 1: 0.1, z: -0 },
  { unusable: true },
  { deep: { deep: { deep: [[{}], ''] } } },
)
const json = fc.constantFrom(
  '{"a":',
  'null',
  '[]',
  '',
  '"text"',
  '{"a":"\\ud800"}',
  '{"n":1.0,"m":1e2}',
  '{"a":1,"a":2}',
  '{"__proto__":{"a":1}}',
)

const thought: Arbitrary<Said> = fc.oneof(
  { weight: 3, arbitrary: texts.map((text): Said => ({ type: 'think', text })) },
  { weight: 1, arbitrary: fc.constant<Said>({ type: 'hide' }) },
)
const callPart: Arbitrary<Said> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('call' as const), tool: tools, args }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('scrawl' as const), tool: tools, json }) },
)
const textPart: Arbitrary<Said> = texts.map((text) => ({ type: 'say', text }))

/** Removes thinking after the last call: no service does that. */
const withoutAfterthought = (parts: readonly Said[]): readonly Said[] =>
  parts.some(isCall)
    ? parts.slice(0, parts.findLastIndex(({ type }) => type !== 'think' && type !== 'hide') + 1)
    : parts

/** An answer: thinking, then text, then calls, and sometimes any order. */
const answer: Arbitrary<readonly Said[]> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        fc.array(thought, { maxLength: 2 }),
        fc.array(textPart, { maxLength: 2 }),
        fc.array(callPart, { maxLength: 2 }),
      )
      .map((parts) => parts.flat()),
  },
  { weight: 1, arbitrary: fc.array(fc.oneof(thought, textPart, callPart), { maxLength: 4 }).map(withoutAfterthought) },
)

/** An imported round, with some results missing or in another order. */
const seededRound: Arbitrary<readonly SeedMessage[]> = fc
  .record({
    asked: fc.option(texts),
    said: texts,
    calls: fc.array(fc.record({ tool: tools.filter((tool) => tool !== ''), isAnswered: fc.boolean(), text: texts }), {
      maxLength: 3,
    }),
    note: fc.boolean(),
  })
  .map(({ asked, said, calls, note }): readonly SeedMessage[] => {
    const toolCalls = calls.map(({ tool }, index) => ({ id: `${index}`, tool, args: {} }))
    const results = calls.flatMap(({ isAnswered, text }, index): SeedMessage[] =>
      isAnswered ? [{ role: 'tool', toolCallId: `${index}`, content: text, isError: index === 1 }] : [],
    )
    return [
      ...(asked === null ? [] : [{ role: 'user', content: asked } as const]),
      { role: 'assistant', content: said, ...(toolCalls.length > 0 && { toolCalls }) },
      ...results.toReversed(),
      ...(note ? [{ role: 'system', content: 'noted' } as const] : []),
    ]
  })
/** A round of a conversation that a program runs: results come later, in any order, and some are missing. */
const ledRound: Arbitrary<readonly ConversationMessage[]> = fc
  .record({
    asked: fc.option(texts),
    system: fc.option(texts),
    said: texts,
    calls: fc.array(fc.record({ id: fc.constantFrom('a', 'b', '', 'c'.repeat(300)), tool: tools, args }), {
      maxLength: 3,
    }),
    results: fc.array(fc.record({ id: fc.constantFrom('a', 'b', 'nowhere', ''), text: texts }), { maxLength: 3 }),
  })
  .map(({ asked, system, said, calls, results }) => [
    ...(system === null ? [] : [{ role: 'system', content: system } as const]),
    ...(asked === null ? [] : [{ role: 'user', content: asked } as const]),
    { role: 'assistant', content: said, ...(calls.length > 0 && { toolCalls: calls }) },
    ...results.map(({ id, text }) => ({ role: 'tool', content: text, toolCallId: id }) as const),
  ])
const led = fc.array(ledRound, { minLength: 1, maxLength: 3 }).map((rounds) => rounds.flat())

const seeded = fc.array(seededRound, { minLength: 1, maxLength: 4 }).map((rounds) => rounds.flat())

const index = fc.nat(4)
const levels: readonly ThinkingLevel[] = ['off', 'low', 'high']
const breaks: readonly Break[] = ['cut', 'stop', 'error', 'overloaded']

export const aStep: Arbitrary<steps.Step> = fc.oneof(
  { weight: 36, arbitrary: answer.map(steps.reply) },
  {
    weight: 16,
    arbitrary: fc
      .tuple(index, fc.constantFrom('ok' as const, 'failed' as const), texts)
      .map((all) => steps.work(...all)),
  },
  {
    weight: 10,
    arbitrary: fc
      .tuple(prompts, fc.array(fc.constantFrom(...steps.fileNames), { maxLength: 1 }))
      .map(([text, names]) => steps.prompt(text, ...names)),
  },
  { weight: 5, arbitrary: fc.tuple(answer, fc.integer({ min: 1, max: 9 })).map((all) => steps.piece(...all)) },
  { weight: 3, arbitrary: fc.constantFrom(...breaks).map(steps.breakOff) },
  { weight: 8, arbitrary: fc.nat(2).map(steps.begin) },
  {
    weight: 12,
    arbitrary: fc
      .constantFrom('approve' as const, 'approve_turn' as const, 'approve_session' as const)
      .map(steps.approve),
  },
  { weight: 4, arbitrary: texts.map(steps.deny) },
  { weight: 3, arbitrary: prompts.map(steps.steer) },
  { weight: 2, arbitrary: prompts.map(steps.followUp) },
  { weight: 2, arbitrary: fc.constant(steps.abort()) },
  { weight: 3, arbitrary: fc.constant(steps.goOn()) },
  { weight: 5, arbitrary: fc.tuple(index, answer).map((all) => steps.late(...all)) },
  { weight: 2, arbitrary: fc.constantFrom('killed' as const, 'killed' as const, 'paused' as const).map(steps.crash) },
  { weight: 1, arbitrary: fc.constant(steps.unload()) },
  { weight: 2, arbitrary: fc.constant(steps.wait()) },
  { weight: 7, arbitrary: fc.constantFrom(...allModels).map(steps.switchModel) },
  { weight: 1, arbitrary: fc.constantFrom(...levels).map(steps.think) },
  { weight: 1, arbitrary: fc.constantFrom('enterPlan' as const, 'enterExec' as const).map(steps.mode) },
  { weight: 4, arbitrary: fc.nat(2).map(steps.branch) },
  { weight: 2, arbitrary: fc.nat(2).map(steps.rewind) },
  { weight: 4, arbitrary: fc.nat(1).map(steps.switchTo) },
  { weight: 2, arbitrary: fc.tuple(fc.option(fc.nat(1), { freq: 2 }), fc.boolean()).map((all) => steps.fork(...all)) },
  { weight: 1, arbitrary: index.map(steps.visit) },
  { weight: 5, arbitrary: fc.constant(steps.compact()) },
  { weight: 4, arbitrary: fc.constant(steps.undo()) },
  { weight: 1, arbitrary: fc.constantFrom(50, 100, 200_000).map(steps.narrow) },
  { weight: 1, arbitrary: seeded.map(steps.checkpoint) },
  { weight: 1, arbitrary: texts.map(steps.summary) },
  { weight: 1, arbitrary: fc.nat(9).map(steps.truncate) },
  { weight: 3, arbitrary: seeded.map(steps.seed) },
  { weight: 1, arbitrary: seeded.map(steps.setHistory) },
  { weight: 3, arbitrary: fc.tuple(led, fc.nat(4)).map((all) => steps.lead(...all)) },
  { weight: 3, arbitrary: fc.nat(20).map(steps.pin) },
)

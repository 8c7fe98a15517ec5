import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  ApprovedBy,
  BlobHash,
  Budgets,
  ClientId,
  CommandId,
  Content,
  ContentPart,
  Event,
  type EventType,
  eventVersion,
  FileChange,
  Fork,
  Handle,
  Instant,
  invariant,
  Key,
  Line,
  ModelFault,
  ModelName,
  messageEvents,
  Outcome,
  Output,
  Permission,
  Preview,
  ProcessMark,
  QueueEntry,
  Recorded,
  Seq,
  SessionId,
  Settings,
  Span,
  Usage,
} from '@holdfast/protocol'
import { z } from 'zod'

/** What each event says, in a sentence. The compiler asks for a new one's. */
const sentences: Readonly<Record<EventType, string>> = {
  'session.started':
    'The session began. Of a fork it also holds what it inherits, so that it folds without its parent.',
  'settings.changed': 'Some of the settings are others now; a field that is absent stays as it was.',
  'context.changed': 'What the model is told apart from messages: system text and tool schemas, as blobs.',
  'prompt.queued': 'A prompt came while a turn was running, and waits.',
  'queue.edited': 'A prompt that waits says something else now.',
  'queue.removed': 'Prompts were taken back before they were sent. `recalled` if whoever took them wanted them back.',
  'queue.reordered': 'The prompts of one queue wait in another order.',
  'user.said': 'A person spoke; `entry` is the queue entry it waited in, if it did.',
  'turn.started': 'A turn began, or a cut one was taken up again under its number.',
  'turn.ended': 'The session rests. All but `done` can be continued.',
  'step.started': 'One model call is about to be made. Durable before the provider hears of it.',
  'thinking.said': 'The model thought. `meta` is the provider’s own and is sent back to it byte for byte.',
  'text.said': 'The model said something. `interrupted` if it was cut short.',
  'call.requested': 'The model asked for a tool. `malformed` says why its arguments cannot be used, if they cannot.',
  'step.ended':
    'The model call is over. `usage` is null when the provider did not say what it used; `estimate` is then about what it was.',
  'approval.asked': 'A person is asked whether the call may run. The approval’s id is the seq of this record.',
  'call.approved': 'A person, or a rule, allowed the call with exactly these arguments.',
  'call.started': 'The tool is about to change something. Durable before it does; never run again after this.',
  'call.settled': 'What the call came to. Once per call.',
  'note.added': 'Something for people. The model hears of it only where it is `told`.',
  'line.moved': 'The session stands on another line of its history now.',
  'checkpoint.written': 'A compaction: before `keepFrom` the model is told the summary and nothing else.',
  'checkpoint.undone': 'The model is told again what a compaction hid; `holds` is the one that counts instead, if any.',
  'summary.saved': 'A note about the session was written to a file of its workdir.',
  'session.forked': 'Another session shares the past of this one up to `base`. On record before that session is made.',
  'client.said': 'A client left an event of its own for other clients. Kept word for word, never sent to a model.',
  'message.given':
    'A message as its program gave it, for whoever asks for it back. Its words, null here, are in the first of the next `records` that has any.',
  'message.collapsed': 'A tool call is shown folded or open; all of them when `message` is null. For screens only.',
  'trust.granted': 'A standing approval: for a tool, or for one exact call of it. That of a turn ends with its turn.',
  'trust.revoked': 'Every trust in this tool is gone, or every trust there is when `tool` is null.',
  'message.pinned': 'A message is kept before the model for good, or no longer.',
  'log.repaired': 'A person accepted that these records cannot be read.',
}

/** Schemas that are called by their name where they are used. */
const named: readonly (readonly [string, z.core.$ZodType])[] = [
  ['seq', Seq],
  ['instant', Instant],
  ['session id', SessionId],
  ['handle', Handle],
  ['key', Key],
  ['command id', CommandId],
  ['client id', ClientId],
  ['blob hash', BlobHash],
  ['model name', ModelName],
  ['Content', Content],
  ['Line', Line],
  ['ContentPart', ContentPart],
  ['Span', Span],
  ['Settings', Settings],
  ['Budgets', Budgets],
  ['Permission', Permission],
  ['QueueEntry', QueueEntry],
  ['Fork', Fork],
  ['Preview', Preview],
  ['Outcome', Outcome],
  ['Output', Output],
  ['ApprovedBy', ApprovedBy],
  ['ProcessMark', ProcessMark],
  ['FileChange', FileChange],
  ['ModelFault', ModelFault],
  ['Usage', Usage],
  ['Event', Event],
]

const nameOf = (schema: z.core.$ZodType): string | undefined => named.find(([, one]) => one === schema)?.[0]

/** A schema in the words of the document. */
function describe(schema: z.core.$ZodType, isTop = false): string {
  const name = isTop ? undefined : nameOf(schema)
  if (name !== undefined) return name
  if (schema instanceof z.ZodOptional) return describe(schema.unwrap())
  if (schema instanceof z.ZodNullable) return `${describe(schema.unwrap())} or null`
  if (schema instanceof z.ZodArray) return `list of ${describe(schema.element)}`
  if (schema instanceof z.ZodEnum) return schema.options.map((value) => `\`${value}\``).join(' / ')
  if (schema instanceof z.ZodLiteral) return `\`${String(schema.value)}\``
  if (schema instanceof z.ZodUnion) return schema.options.map((one) => describe(one)).join(' or ')
  if (schema instanceof z.ZodRecord) return 'object'
  if (schema instanceof z.ZodLazy) return 'any JSON'
  if (schema instanceof z.ZodString) return 'string'
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodBoolean) return 'boolean'
  invariant(schema instanceof z.ZodObject, `the document has no words for a ${schema._zod.def.type}`)
  return `{ ${Object.entries(schema.shape).map(inlineField).join(', ')} }`
}

const inlineField = ([field, schema]: readonly [string, z.core.$ZodType]): string =>
  schema instanceof z.ZodLiteral
    ? `${field}: ${describe(schema)}`
    : `${field}${schema instanceof z.ZodOptional ? '?' : ''}: ${describe(typeOf(field, schema))}`

/** A turn is counted, not pointed at, though both are numbers of the same form. */
const typeOf = (field: string, schema: z.core.$ZodType): z.core.$ZodType =>
  /^turns?$/.test(field) && nameOf(schema) === 'seq' ? z.number() : schema

function fieldTable(shape: Readonly<Record<string, z.core.$ZodType>>): string {
  const rows = Object.entries(shape)
    .filter(([field]) => field !== 'type')
    .map(([field, schema]) => {
      const isOptional = schema instanceof z.ZodOptional
      return `| \`${field}\`${isOptional ? ' (optional)' : ''} | ${describe(typeOf(field, schema))} |`
    })
  return ['| Field | Is |', '|---|---|', ...rows].join('\n')
}

function eventSection(option: (typeof Event.options)[number]): string {
  const type = option.shape.type.value
  const isMessage = messageEvents.some((one) => one === type)
  const marks = [`version ${eventVersion[type]}`, ...(isMessage ? ['makes a message'] : [])].join(', ')
  return [`### ${type}`, `${sentences[type]} (${marks})`, fieldTable(option.shape)].join('\n\n')
}

function shapeSection(name: string, schema: z.core.$ZodType): string {
  return `### ${name}\n\n${shapeBody(schema)}`
}

function shapeBody(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodObject) return fieldTable(schema.shape)
  if (schema instanceof z.ZodUnion)
    return ['One of:', '', ...schema.options.map((one) => `- ${describe(one)}`)].join('\n')
  const words = describe(schema, true)
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

/** The whole of docs/events.md. */
export function renderEventsDoc(): string {
  const shapes = named.filter(([name]) => /^[A-Z]/.test(name) && name !== 'Event')
  return `${[
    '# Events',
    'Generated from the schemas in `packages/protocol/src/event` by `scripts/write-events-doc.ts`; a test compares. An event\nis what happened, in the past tense; it is never edited and never deleted. Once the log took it, it is a record:',
    fieldTable(Recorded.shape),
    '`seq` is dense per session and the only cursor. `v` is the version the event was written with; old versions are read\nfor ever. `commandId` stands on the first record of a command’s batch. Where an event makes a message, the message’s id is\nthe record’s seq; steps, calls, approvals and queue entries are named by seqs too. Times are ISO 8601 in UTC.',
    '## Every event',
    ...Event.options.map(eventSection),
    '## Shapes in them',
    ...shapes.map(([name, schema]) => shapeSection(name, schema)),
  ].join('\n\n')}\n`
}

if (process.argv[1] === import.meta.filename) {
  await writeFile(resolve(import.meta.dirname, '../docs/events.md'), renderEventsDoc())
}

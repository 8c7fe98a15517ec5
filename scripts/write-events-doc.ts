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

/** Describes each event in a sentence or two. The compiler requires an entry for a new event. */
const sentences: Readonly<Record<EventType, string>> = {
  'session.started':
    'The session started. For a fork, it also contains everything the fork inherits, so its state can be computed without reading the parent.',
  'settings.changed': 'Some settings changed. Absent fields keep their value.',
  'context.changed': 'The system text and the tool schemas for the model changed. Both are stored as blobs.',
  'prompt.queued': 'A prompt arrived during a turn and was queued.',
  'queue.edited': 'A queued prompt was changed.',
  'queue.removed':
    'Prompts were removed from the queue before they were sent. `recalled`: they were returned to the caller.',
  'queue.reordered': 'The prompts of one queue were reordered.',
  'user.said': 'A person sent a message. `entry` is its queue entry, if it was queued.',
  'turn.started': 'A turn started, or an interrupted turn was resumed under its number.',
  'turn.ended': 'The turn ended and the session is idle. A turn can be continued unless its reason is `done`.',
  'step.started': 'A model call is about to start. This record is durable before the request is sent.',
  'thinking.said': 'The model produced thinking. `meta` belongs to the provider and is sent back to it byte for byte.',
  'text.said': 'The model wrote text. `interrupted`: the text is incomplete.',
  'call.requested': 'The model requested a tool call. `malformed` says why its arguments are invalid, if they are.',
  'step.ended':
    'The model call ended. `usage` is null if the provider did not report it; `estimate` is then an approximate value.',
  'approval.asked':
    'A person was asked to approve the call. The seq of this record is the id of the approval. A call is asked for again if the content it depends on changed after it was approved.',
  'call.rewritten':
    'A hook changed the arguments of the call. These are judged, shown, approved and run; the model keeps what it sent.',
  'hook.ran':
    'A hook ran: at which event, with which outcome, and what it printed. `about` is the call it was about. What it told the model is also recorded where the model gets it.',
  'call.approved': 'A person or a rule approved the call with exactly these arguments.',
  'call.started':
    'The tool is about to run. This record is durable before it changes anything. The call is never run again.',
  'question.asked':
    'A running call asks a person something: fields to fill in, or a page to open. The seq of this record is the id to answer with.',
  'question.answered':
    'The question was accepted, declined or cancelled. Without `by` nobody answered: its time was up, or its call ended.',
  'child.started':
    'A call is about to start a subagent. This record is durable before the session of the subagent exists, so that a crash never starts two.',
  'child.ended':
    'The result of a subagent was delivered: with the outcome of its call, or as a follow-up. Recorded once per subagent.',
  'call.settled': 'The outcome of the call. Recorded once per call.',
  'note.added': 'A note for people. The model receives it only if `told` is set.',
  'line.moved': 'The session moved to another line of its history.',
  'checkpoint.written':
    'A compaction: the model receives the summary instead of the messages before `keepFrom`. `why` says who wrote the summary: Holdfast (`automatic`), the command `compact` (`asked`) or a program (`made`).',
  'checkpoint.undone':
    'A compaction was undone: the model receives the hidden messages again. `holds` is the compaction that applies now, if any.',
  'summary.saved': 'A summary of the session was written to a file in its workdir.',
  'session.forked': 'A fork shares the history of this session up to `base`. Recorded before the fork is created.',
  'client.said': 'A client stored its own event for other clients. It is stored unchanged and never sent to a model.',
  'message.given':
    'A message in the form its program gave it, to be returned unchanged. The next `records` records belong to this message. Its text is null here and stored in the first of them that has text.',
  'message.collapsed':
    'A tool call was collapsed or expanded on screen; all of them if `message` is null. It does not affect the model.',
  'boundary.set':
    'Tools may change only these lines of a file, counted from 0, both included. `content` is a blob with the file as it was; `moved` is set if an edit moved the lines.',
  'files.restore_started':
    'A restore is about to change these files: recorded before the first of them changes, so that it can be undone or finished after a crash. `before` is what is there, `after` what is to be there.',
  'files.touched':
    'What a call did to files before it was aborted, or in the background: found after it was settled. Without a call: what the shell commands of a slash command did, also if its prompt was refused.',
  'files.restored':
    'A person put files back as they were before changes of this session. `before` of each file is what was there until then, so that the restore can be undone; `refused` lists the files that stayed as they are; `started` is the record that began it.',
  'boundary.cleared': 'The edit boundary of this file was removed, or all of them if `path` is null.',
  'skill.activated':
    'The session follows a skill from now on. `hash` identifies the text it had. `inConversation` is set if the result of a call or a prompt has the text; otherwise the system text has it.',
  'skill.deactivated': 'The session does not follow this skill any more.',
  'trust.granted': 'A standing approval for a tool, or for one exact call of it. Trust for a turn ends with the turn.',
  'trust.revoked': 'All trust in this tool was revoked, or all trust in any tool if `tool` is null.',
  'message.pinned': 'A message was pinned to the model’s context, or unpinned.',
  'log.repaired': 'A person accepted that these records are lost.',
}

/** Schemas that the document refers to by name. */
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

/** Describes a schema as the document writes it. */
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
  invariant(schema instanceof z.ZodObject, `cannot describe a ${schema._zod.def.type}`)
  return `{ ${Object.entries(schema.shape).map(inlineField).join(', ')} }`
}

const inlineField = ([field, schema]: readonly [string, z.core.$ZodType]): string =>
  schema instanceof z.ZodLiteral
    ? `${field}: ${describe(schema)}`
    : `${field}${schema instanceof z.ZodOptional ? '?' : ''}: ${describe(typeOf(field, schema))}`

/** A turn is a count, not a seq, although both have the same schema. */
const typeOf = (field: string, schema: z.core.$ZodType): z.core.$ZodType =>
  /^turns?$/.test(field) && nameOf(schema) === 'seq' ? z.number() : schema

function fieldTable(shape: Readonly<Record<string, z.core.$ZodType>>): string {
  const rows = Object.entries(shape)
    .filter(([field]) => field !== 'type')
    .map(([field, schema]) => {
      const isOptional = schema instanceof z.ZodOptional
      return `| \`${field}\`${isOptional ? ' (optional)' : ''} | ${describe(typeOf(field, schema))} |`
    })
  return ['| Field | Type |', '|---|---|', ...rows].join('\n')
}

function eventSection(option: (typeof Event.options)[number]): string {
  const type = option.shape.type.value
  const isMessage = messageEvents.some((one) => one === type)
  const marks = [`version ${eventVersion[type]}`, ...(isMessage ? ['creates a message'] : [])].join(', ')
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

/** Returns the text of docs/events.md. */
export function renderEventsDoc(): string {
  const shapes = named.filter(([name]) => /^[A-Z]/.test(name) && name !== 'Event')
  return `${[
    '# Events',
    'Generated from the schemas in `packages/protocol/src/event` by `scripts/write-events-doc.ts`; a test compares them. An event\ndescribes something that happened. It is never edited or deleted. In the log it is a record:',
    fieldTable(Recorded.shape),
    '`seq` is dense per session and the only cursor. `v` is the version of the event; old versions stay readable. `commandId` is on the\nfirst record of a command. The id of a message, step, call, approval or queue entry is the seq of the record that created it.\nTimes are ISO 8601 in UTC.',
    '## Every event',
    ...Event.options.map(eventSection),
    '## Shapes',
    ...shapes.map(([name, schema]) => shapeSection(name, schema)),
  ].join('\n\n')}\n`
}

if (process.argv[1] === import.meta.filename) {
  await writeFile(resolve(import.meta.dirname, '../docs/events.md'), renderEventsDoc())
}

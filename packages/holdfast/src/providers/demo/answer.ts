import type { AssistantPart, ModelRequest, RequestFile, RequestMessage, ToolResultPart } from '@holdfast/core/ports'
import { clip, continueText } from '@holdfast/protocol'
import { readTold } from './told.ts'

type Call = Extract<DemoLine, { readonly type: 'call' }>

/** The whole answer of the demo, before it is streamed. */
export type DemoAnswer = {
  readonly thinking: string
  readonly text: string
  /** Numbers to count after the text, for trying abort, steering and reconnecting. */
  readonly count: { readonly from: number; readonly to: number } | null
  readonly calls: readonly Pick<Call, 'tool' | 'args'>[]
  readonly failure: DemoFailure | null
}

/** Builds the answer as a pure function of the request, so that a retry and a replay give the same. */
export function buildAnswer({ messages: all, tools }: ModelRequest): DemoAnswer {
  const { messages, saidBefore } = findRequest(all)
  const isResumed = saidBefore.length > 0
  const results = findNewResults(messages)
  const lines = findNewLines(messages).map((line) => (line.type === 'carryOut' ? carryOut(messages) : line))
  const offered = new Set(tools.map(({ name }) => name))
  const calls = lines.filter((line) => line.type === 'call')
  // A tool of a server that was never asked what it offers can be called too: the call asks the server.
  const isOffered = (tool: string) => offered.has(tool) || offered.has(tool.replace(/^(mcp__.+?__).*$/, '$1list_tools'))
  const possible = calls.filter(({ tool }) => isOffered(tool))
  const missing = calls.filter(({ tool }) => !isOffered(tool))
  const unknown = lines.filter((line) => line.type === 'unknown')
  const count = lines.findLast((line) => line.type === 'count')
  const failure = lines.find((line) => line.type === 'fail')?.how ?? null

  const texts = [
    ...lines.flatMap((line) => (line.type === 'told' ? [line.text] : [])),
    ...results.map(reportResult),
    ...missing.map(({ verb, tool }) => `I cannot ${verb} here: this session does not offer the tool ${tool}.`),
    ...lines.flatMap((line) => (line.type === 'plan' ? [writePlan(line.request, readDemoLine(line.request))] : [])),
    ...(unknown.length > 0 ? [explainUnknown(unknown.map(({ text }) => clip(text, 80)))] : []),
    ...(lines.length === 0 && results.length === 0 ? [abilities] : []),
    ...(failure === 'cut' ? [cutBeginning, cutEnd] : []),
    ...(possible.length > 0 ? [announceCalls(possible)] : []),
  ]
  const unsaid = saidBefore.reduce(removeSaid, texts)
  const isAllSaid = unsaid.length === 0 && count === undefined && possible.length === 0
  return {
    thinking: isResumed ? 'I was interrupted. I continue where I stopped.' : describeThoughts(lines, results.length),
    text: (isAllSaid ? ['That was all. There is nothing left to say.'] : unsaid).join(separator),
    count: count === undefined ? null : { from: findLastNumber(saidBefore) + 1, to: count.to },
    calls: possible.map(({ tool, args }) => ({ tool, args })),
    failure: isResumed ? null : failure, // it has already cut the answer
  }
}

const separator = '\n\n'

/** Separates the messages to answer from the texts of interrupted answers to them, in order. */
function findRequest(all: readonly RequestMessage[]) {
  let messages = all
  const saidBefore: string[] = []
  for (;;) {
    const rest = isContinue(messages.at(-1)) ? messages.slice(0, -1) : messages
    const cut = rest.at(-1)
    if (cut?.role !== 'assistant') return { messages, saidBefore }
    saidBefore.unshift(...cut.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    messages = rest.slice(0, -1)
  }
}

const isContinue = (message: RequestMessage | undefined): boolean =>
  message?.role === 'user' && message.content.every((part) => part.type === 'text' && part.text === continueText)

/** Removes the texts that an interrupted answer already has. A half text is repeated whole. */
function removeSaid(texts: readonly string[], spoken: string): readonly string[] {
  const [first] = texts
  if (first === undefined || !spoken.startsWith(first)) return texts
  return removeSaid(texts.slice(1), spoken.slice(first.length + separator.length))
}

type CallResult = { readonly call: Extract<AssistantPart, { type: 'call' }> | null; readonly result: ToolResultPart }

/** Finds the results since the model's last answer. Steering may follow them. */
function findNewResults(messages: readonly RequestMessage[]): readonly CallResult[] {
  const at = messages.findLastIndex(({ role }) => role !== 'user')
  const round = messages[at]
  const before = messages[at - 1]
  if (round?.role !== 'tool') return []
  const calls = before?.role === 'assistant' ? before.content.filter((part) => part.type === 'call') : []
  return round.content.map((result) => ({ call: calls.find(({ id }) => id === result.id) ?? null, result }))
}

/** Lines of a prompt that the demo reads: more is not a request but a pasted text. */
const linesMax = 1000

/** Finds the prompt lines since the model's last answer. `fail` counts only in the newest prompt. */
function findNewLines(messages: readonly RequestMessage[]): readonly DemoLine[] {
  const start = messages.findLastIndex(({ role }) => role !== 'user') + 1
  const prompts = messages
    .slice(start)
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .flatMap((part) => (part.type === 'text' && part.text !== continueText ? [part.text] : []))
  return prompts.flatMap((prompt, index) => {
    const told = readTold(prompt)
    if (told !== null) return [{ type: 'told' as const, text: told }]
    return prompt
      .split('\n', linesMax)
      .filter((line) => line.trim() !== '')
      .map(readDemoLine)
      .filter((line) => line.type !== 'fail' || index === prompts.length - 1)
  })
}

/** Returns what the last plan was for, to be done now. A request that the demo does not understand cannot be done. */
function carryOut(messages: readonly RequestMessage[]): DemoLine {
  const plan = messages
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .flatMap((part) => (part.type === 'text' ? part.text.split('\n', linesMax).map(readDemoLine) : []))
    .findLast((line) => line.type === 'plan')
  if (plan === undefined) return { type: 'told', text: 'There is no plan yet. Ask for one with `plan <request>`.' }
  const line = readDemoLine(plan.request)
  if (line.type === 'call' || line.type === 'count') return line
  return {
    type: 'told',
    text: `I am the demo, and cannot do "${clip(plan.request, 80)}" by myself. A real model would now make the change, and ask you before each step.`,
  }
}

/** A text that somebody else wrote may have longer numbers. */
const numberCharsMax = 40

/** Finds where an interrupted count stopped, so that `continue` resumes there. */
function findLastNumber(spoken: readonly string[]): number {
  const counted = spoken.findLast((text) => /^\d+, [\d, ]*\.?$/.test(text)) ?? ''
  // The last number may be cut too, so it is repeated.
  return Number(/(\d+)[,.][^,.]*$/.exec(counted.slice(-numberCharsMax))?.[1] ?? 0)
}

const announceCalls = (calls: readonly Call[]): string =>
  calls.length === 1 ? `I will use ${calls[0]?.tool}.` : `I will use ${calls.length} tools at once.`

function describeThoughts(lines: readonly DemoLine[], results: number): string {
  if (lines.length === 0)
    return results === 0 ? 'There is nothing to do yet.' : 'The tools are done. I will say what they returned.'
  const requests = lines.filter(({ type }) => type !== 'told')
  if (requests.length === 0) return 'There is no request, but something I was told.'
  const steps = requests.map((line) => (line.type === 'call' ? `${line.verb} with ${line.tool}` : line.type))
  return `The request has ${requests.length === 1 ? 'one line' : `${requests.length} lines`}: ${clip(steps.join(', '), 200)}.`
}

/** What `fail` can simulate: the error kinds, and a stream that breaks off. */
export const demoFailures = ['rejected_key', 'rate_limited', 'auth_failed', 'unreachable', 'raw_dump', 'cut'] as const
export type DemoFailure = (typeof demoFailures)[number]

type Args = { readonly [key: string]: unknown }

/** One line of a prompt, as the demo understands it. */
type DemoLine =
  | { readonly type: 'call'; readonly verb: string; readonly tool: string; readonly args: Args }
  | { readonly type: 'count'; readonly to: number }
  | { readonly type: 'fail'; readonly how: DemoFailure }
  | { readonly type: 'plan'; readonly request: string }
  | { readonly type: 'carryOut' }
  | { readonly type: 'told'; readonly text: string }
  | { readonly type: 'unknown'; readonly text: string }

const countMax = 10_000

type Form = readonly [RegExp, (...groups: readonly string[]) => DemoLine]
const call = (verb: string, tool: string, args: Args): DemoLine => ({ type: 'call', verb, tool, args })
const callFile = (verb: string, path: string, args?: Args) =>
  call(verb, `${verb}_file`, { path: unquoted(path), ...args })

/** All requests that the demo understands. The first match wins. */
const forms: readonly Form[] = [
  [/^(?:what is|what's)\b.*\b(?:folder|directory|here)\b.*$/i, () => call('list', 'list_directory', { path: '.' })],
  [/^list\b(.*)$/i, (rest = '') => call('list', 'list_directory', { path: findDirectory(rest) })],
  [/^read (?:the )?(?:file )?(.+)$/i, (path = '') => callFile('read', path)],
  [/^search (.+)$/i, (pattern = '') => call('search', 'grep', { pattern: unquoted(pattern), literal: true })],
  [/^find (.+)$/i, (pattern = '') => call('find', 'find', { pattern: unquoted(pattern) })],
  [/^write ([^:]+): ?(.*)$/i, (path = '', content = '') => callFile('write', path, { content })],
  [
    /^edits ([^:]+): ?(.+)$/i,
    (path = '', edits = '') => call('edits', 'multi_edit_file', { path: unquoted(path), edits: splitEdits(edits) }),
  ],
  [/^delete (?:the )?(?:file )?(.+)$/i, (path = '') => callFile('delete', path)],
  [/^move (.+?) => ?(.+)$/i, (path = '', to = '') => callFile('move', path, { new_path: unquoted(to) })],
  [/^output (\S+)$/i, (id = '') => call('output', 'shell_output', { id })],
  [/^stop (\S+)$/i, (id = '') => call('stop', 'shell_stop', { id })],
  [
    /^edit ([^:]+): ?(.+?) ?=> ?(.*)$/i,
    (path = '', old_text = '', new_text = '') => callFile('edit', path, { old_text, new_text }),
  ],
  [
    /^patch ([^:]+): ?(.+?) ?=> ?(.*)$/i,
    (path = '', old = '', added = '') =>
      call('patch', 'apply_diff', { path: unquoted(path), diff: `@@\n-${old}\n+${added}\n` }),
  ],
  [/^call (\S+)(?: (\{.*\}))?$/i, (tool = '', json = '') => call('call', tool, readObject(json))],
  [/^tools$/i, () => call('tools', 'describe_tools', {})],
  [/^todo$/i, () => call('todo', 'todo_read', {})],
  [/^todo (.+)$/i, (tasks = '') => call('todo', 'todo_write', { tasks: splitTasks(tasks) })],
  [/^fetch (\S+)$/i, (url = '') => call('fetch', 'fetch_url', { url: unquoted(url) })],
  [/^git status$/i, () => call('git', 'git_status', {})],
  [/^git diff(?: (.+))?$/i, (path = '') => call('git', 'git_diff', path === '' ? {} : { path: unquoted(path) })],
  [/^git log$/i, () => call('git', 'git_log', {})],
  [/^git stage (.+)$/i, (path = '') => call('git', 'git_stage', { paths: [unquoted(path)] })],
  [/^git commit (.+)$/i, (message = '') => call('git', 'git_commit', { message: unquoted(message) })],
  [/^run in (?:the )?background (.+)$/i, (command = '') => call('run', 'shell', { command, background: true })],
  [/^run (.+)$/i, (command = '') => call('run', 'shell', { command })],
  [/^remember (?:that )?(.+)$/i, (text = '') => call('remember', 'memory_write', { text })],
  [/^delegate in (?:the )?background (.+)$/i, (task = '') => call('delegate', 'subagent', { task, background: true })],
  [/^delegate (.+)$/i, (task = '') => call('delegate', 'subagent', { task })],
  [/^count to (\d{1,9})\b.*$/i, (to = '') => ({ type: 'count', to: Math.min(Number(to), countMax) })],
  [/^plan (.+)$/i, (request = '') => ({ type: 'plan', request })],
  [/^carry out the plan\.?$/i, () => ({ type: 'carryOut' })],
]

/** Parses one line, ignoring case. */
export function readDemoLine(text: string): DemoLine {
  const line = text.trim()
  const how = demoFailures.find((failure) => line.toLowerCase() === `fail ${failure}`)
  if (how !== undefined) return { type: 'fail', how }

  for (const [form, read] of forms) {
    const found = form.exec(line)
    if (found !== null) return read(...found.slice(1))
  }
  return { type: 'unknown', text: line }
}

/** Reads the edits of `edits file: a => b; c => d`. */
const splitEdits = (text: string) =>
  text.split(';').map((part) => {
    const [old_text = '', ...rest] = part.trim().split(/ ?=> ?/)
    return { old_text, new_text: rest.join(' => ') }
  })

/** Reads the arguments of `call`; none if they are no JSON object. */
function readObject(json: string): Readonly<Record<string, unknown>> {
  try {
    return json === '' ? {} : JSON.parse(json)
  } catch {
    return {}
  }
}

/** Reads the tasks of `todo a; b`. A task that begins with `done` or `doing` has that status. */
const splitTasks = (text: string) =>
  text.split(';').flatMap((part) => {
    const [, mark = '', description = ''] = /^(?:(done|doing)\s+)?(.*)$/i.exec(part.trim()) ?? []
    const status = { done: 'done', doing: 'in_progress' }[mark.toLowerCase()] ?? 'pending'
    return description === '' ? [] : [{ description, status }]
  })

/** Finds the directory in `list src`; `list the files here` has none. */
function findDirectory(rest: string): string {
  const fillers = /^(all|the|files?|folders?|directory|in|of|this|here|everything|me|please)?$/i
  const words = rest.trim().replace(/(?<=\w)[.?!]+$/, '')
  const naming = words.split(/\s+/).filter((word) => !fillers.test(word))
  return naming.length === 0 ? '.' : unquoted(naming.join(' '))
}

const unquoted = (text: string): string => text.trim().replace(/^(["'`])(.*)\1$/, '$2')

const shownCharsMax = 2_000
const shownLinesMax = 40

const abilities = `I am the demo: a scripted agent, not a language model. I understand these requests, one a line:

- \`list [dir]\`, \`read <file>\`, \`search <text>\`, \`find <glob>\`, \`git status\`, \`git diff [path]\`, \`git log\`, \`fetch <url>\`
- \`todo <task>; <task>\`, \`todo\`, \`tools\`, \`call <tool> [JSON]\`
- \`output <id>\`, \`stop <id>\` of a command in the background
- \`write <file>: <text>\`, \`edit <file>: <old> => <new>\`, \`edits <file>: <old> => <new>; <old> => <new>\`, \`patch <file>: <old> => <new>\`, \`delete <file>\`, \`move <file> => <path>\`, \`git stage <path>\`, \`git commit <message>\`, \`run <command>\`, \`run in background <command>\`, \`remember <text>\` (these ask you first)
- \`count to <n>\`, \`plan <request>\`, \`carry out the plan\`, \`delegate <request>\`
- \`fail <rejected_key|rate_limited|auth_failed|unreachable|raw_dump|cut>\`

For a real model, add a key: in the settings of the page, or with \`holdfast auth login\`.`

const explainUnknown = (lines: readonly string[]): string =>
  `I do not understand ${lines.map((line) => `"${line}"`).join(' or ')}.\n\n${abilities}`

/** The two halves of the answer to `fail cut`. The second is sent after `continue`. */
export const cutBeginning = 'This answer is about to be cut'
const cutEnd = '… and this is the rest of it.'

/** Reports the result of one call, quoting the tool. */
function reportResult({ call, result }: CallResult): string {
  const about = call === null ? '' : subjectOf(call.args)
  const what = about === '' ? result.tool : `${result.tool} (${about})`
  if (result.isError) return `${what} failed:\n\n${quoted(result.text)}`
  const said = result.text.trim() === '' ? `${what} returned nothing.` : `${what} returned:\n\n${quoted(result.text)}`
  return [said, ...(result.files ?? []).map(reportFile)].join(separator)
}

/** The demo cannot look at a file, but shows that it has arrived. */
const reportFile = ({ mediaType, name = 'a file', bytes }: RequestFile): string =>
  `With it I received ${clip(name, 80)}: ${mediaType}, ${bytes.length} bytes.`

function subjectOf(args: { readonly [key: string]: unknown }): string {
  const subject =
    args['url'] ?? args['path'] ?? args['command'] ?? args['pattern'] ?? args['task'] ?? args['text'] ?? args['id']
  return typeof subject === 'string' ? clip(subject, 80) : ''
}

function quoted(text: string): string {
  const lines = clip(text.trimEnd(), shownCharsMax).split('\n')
  const shown = lines.slice(0, shownLinesMax).join('\n')
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)))
  const isCut = lines.length > shownLinesMax || text.trimEnd().length > shownCharsMax
  return `${fence}\n${shown}\n${fence}${isCut ? '\n\n(Only the beginning is shown.)' : ''}`
}

/** Writes a plan for a request: the steps and the approvals. */
function writePlan(request: string, line: DemoLine): string {
  const steps = [`Understand the request: ${clip(request, 200)}`, ...stepsFor(line), 'Report the result.']
  return `My plan:\n\n${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}`
}

const toolsThatAsk: ReadonlySet<string> = new Set([
  ...['write_file', 'edit_file', 'multi_edit_file', 'apply_diff', 'delete_file', 'move_file'],
  ...['git_stage', 'git_commit', 'shell', 'memory_write'],
])

function stepsFor(line: DemoLine): readonly string[] {
  if (line.type === 'call') {
    const subject = subjectOf(line.args)
    const use = `Use ${line.tool}${subject === '' ? '' : ` on ${subject}`}.`
    return toolsThatAsk.has(line.tool) ? ['Ask you for approval.', use] : [use]
  }
  if (line.type === 'count') return [`Count to ${line.to}.`]
  return ['Look at the files it concerns.', 'Make the smallest change that does it.', 'Check the result.']
}

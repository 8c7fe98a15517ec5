/** What `fail` can simulate: the error kinds, and a stream that breaks off. */
export const demoFailures = ['rejected_key', 'rate_limited', 'auth_failed', 'unreachable', 'raw_dump', 'cut'] as const
export type DemoFailure = (typeof demoFailures)[number]

/** One line of a prompt, as the demo understands it. */
export type DemoLine =
  | {
      readonly type: 'call'
      readonly verb: string
      readonly tool: string
      readonly args: { readonly [key: string]: string }
    }
  | { readonly type: 'count'; readonly to: number }
  | { readonly type: 'fail'; readonly how: DemoFailure }
  | { readonly type: 'plan'; readonly request: string }
  | { readonly type: 'unknown'; readonly text: string }

const countMax = 10_000

type Form = readonly [RegExp, (...groups: readonly string[]) => DemoLine]
const call = (verb: string, tool: string, args: { readonly [key: string]: string }): DemoLine => ({
  type: 'call',
  verb,
  tool,
  args,
})

/** All requests that the demo understands. The first match wins. */
const forms: readonly Form[] = [
  [/^(?:what is|what's)\b.*\b(?:folder|directory|here)\b.*$/i, () => call('list', 'list_directory', { path: '.' })],
  [/^list\b(.*)$/i, (rest = '') => call('list', 'list_directory', { path: findDirectory(rest) })],
  [/^read (?:the )?(?:file )?(.+)$/i, (path = '') => call('read', 'read_file', { path: unquoted(path) })],
  [/^search (.+)$/i, (pattern = '') => call('search', 'grep', { pattern: unquoted(pattern) })],
  [/^find (.+)$/i, (pattern = '') => call('find', 'find', { pattern: unquoted(pattern) })],
  [
    /^write ([^:]+): ?(.*)$/i,
    (path = '', content = '') => call('write', 'write_file', { path: unquoted(path), content }),
  ],
  [
    /^edit ([^:]+): ?(.+?) ?=> ?(.*)$/i,
    (path = '', old_text = '', new_text = '') =>
      call('edit', 'edit_file', { path: unquoted(path), old_text, new_text }),
  ],
  [/^run (.+)$/i, (command = '') => call('run', 'shell', { command })],
  [/^remember (?:that )?(.+)$/i, (text = '') => call('remember', 'memory_write', { text })],
  [/^delegate (.+)$/i, (task = '') => call('delegate', 'subagent', { task })],
  [/^count to (\d{1,9})\b.*$/i, (to = '') => ({ type: 'count', to: Math.min(Number(to), countMax) })],
  [/^plan (.+)$/i, (request = '') => ({ type: 'plan', request })],
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

/** Finds the directory in `list src`; `list the files here` has none. */
function findDirectory(rest: string): string {
  const words = rest
    .trim()
    .replace(/(?<=\w)[.?!]+$/, '')
    .split(/\s+/)
  const naming = words.filter(
    (word) => !/^(all|the|files?|folders?|directory|in|of|this|here|everything|me|please)?$/i.test(word),
  )
  return naming.length === 0 ? '.' : unquoted(naming.join(' '))
}

const unquoted = (text: string): string => text.trim().replace(/^(["'`])(.*)\1$/, '$2')

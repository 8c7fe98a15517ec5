const indentOf = (line: string): number => line.length - line.trimStart().length

/** Returns the lines of a statement: the rest is indented, or closes it. Relies on the formatter. */
function blockAt(lines: readonly string[], start: number): readonly string[] {
  const base = indentOf(lines[start] ?? '')
  let end = start + 1
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line === '') continue
    const isInside = indentOf(line) > base || (indentOf(line) === base && /^[})\]]/.test(line.trim()))
    if (!isInside) break
    end = at + 1
  }
  return lines.slice(start, end)
}

/** Returns the line at which the test with this title begins; -1 if there is none. */
function testLine(lines: readonly string[], title: string): number {
  const quoted = [`'${title.replaceAll("'", "\\'")}'`, `"${title}"`, `\`${title}\``]
  const titled = lines.findIndex((line) => quoted.some((text) => line.includes(text)))
  if (titled === -1) return -1
  return lines.findLastIndex((line, at) => at <= titled && /^\s*it(?:\.\w+)*[(<]/.test(line))
}

/** Returns the text of a test of a file, with the functions and set-up of the file that it uses. */
export function textOfTest(source: string, title: string): string {
  const lines = source.split('\n')
  const start = testLine(lines, title)
  if (start === -1) return ''
  const declared = new Map<string, readonly string[]>()
  const setUp: string[] = []
  for (const [at, line] of lines.entries()) {
    const name = /^\s*(?:export )?(?:const|let|(?:async )?function\*?) (?:\{ *)?(\w+)/.exec(line)?.[1]
    if (name !== undefined && !declared.has(name)) declared.set(name, blockAt(lines, at))
    if (/^\s*beforeEach\(/.test(line)) setUp.push(...blockAt(lines, at))
  }
  let text = [...blockAt(lines, start), ...setUp].join('\n').replace(title, '') // its words prove nothing
  const used = new Set<string>()
  for (let grew = true; grew; ) {
    grew = false
    for (const [name, block] of declared) {
      if (used.has(name) || !new RegExp(`\\b${name}\\b`).test(text)) continue
      used.add(name)
      text += `\n${block.join('\n')}`
      grew = true
    }
  }
  return text.replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$| \/\/ .*$/gm, '')
}

/** Matches a read of a field, or a value that has it: `.name`, `{ name }`, `name: …`, or its name as a text. */
const fieldUse = (name: string): RegExp =>
  new RegExp(`\\.${name}\\b(?!\\()|[{,(]\\s*${name}\\s*[,:}=]|^\\s*${name}[,:]|'${name}'`, 'm')

const ofSession = ['Session', 'AttachedSession', 'LocalSession', 'LoadedSession', 'SessionHandle']
const ofHoldfast = ['Holdfast', 'HoldfastMethods']

/** The types whose methods the table names. */
export const receivers: readonly string[] = [...ofSession, ...ofHoldfast, 'Conversations', 'Subscription']

/** Matches a call of a method of one of these types, as `openReceiverTypes` marks it. */
const callOf = (types: readonly string[], name: string): string => `‹(?:${types.join('|')})›${name}\\(`

/** The forms of names in the table, and how a test uses each: it calls a method, sends a command, or reads a field. */
const uses: readonly (readonly [form: RegExp, use: (...groups: readonly string[]) => RegExp])[] = [
  [/^session\.id$/, () => fieldUse('id')],
  [/^session\.(\w+)\(\)$/, (name = '') => new RegExp(`${callOf(ofSession, name)}|type: '${name}'`)],
  [/^holdfast\.(\w+)\(\)$/, (name = '') => new RegExp(callOf(ofHoldfast, name))],
  [/^(Conversations|Subscription)\.(\w+)(?:\(\))?$/, (type = '', name = '') => new RegExp(callOf([type], name))],
  [/^holdfast ([a-z-]+)$/, (name = '') => new RegExp(`'${name}'`)],
  [/^[A-Z]\w+\.(\w+)$/, (name = '') => fieldUse(name)],
  [/^(\w+)\(\)$/, (name = '') => new RegExp(`\\b${name}\\(`)],
  [/^([a-z]+\.[a-z]+)$/, (name = '') => new RegExp(`'${name.replace('.', '\\.')}'`)],
]

/** Returns whether the text of a test uses a name of the table; null for a name that only types have. */
export function isUsed(text: string, name: string): boolean | null {
  for (const [form, use] of uses) {
    const found = form.exec(name)
    if (found) return use(...found.slice(1)).test(text)
  }
  return null
}

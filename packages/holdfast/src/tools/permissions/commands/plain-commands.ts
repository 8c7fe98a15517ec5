import { parse } from 'unbash'
import { isIntricate } from './find-commands.ts'

type Script = ReturnType<typeof parse>
type Statement = Script['commands'][number]
type AnyCommand = Exclude<Statement['command'], { type: 'AndOr' }>
type CommandNode = Extract<AnyCommand, { type: 'Command' }>

/** The words of a command of which it is certain what it runs. */
export type PlainCommand = readonly [program: string, ...rest: string[]]

const charsMax = 8000
const commandsMax = 20
/** Control characters except tab and newline: a shell may take one for a blank. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff]/
/** A word that every shell reads the same way: plain characters and plain quotes. */
const plainWord = /^(?:[A-Za-z0-9_@%+=:,./-]|'[^']*'|"[^"\\$`!]*")+$/
const harmlessNames = new Set(['CI', 'NODE_ENV', 'NO_COLOR', 'FORCE_COLOR', 'LANG', 'LC_ALL', 'TZ'])

/** Returns null for a text that is nested too deep for the parser, which calls itself. */
function parseText(text: string): Script | null {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/**
 * Returns the commands of a text if it is certain that the shell runs exactly these, and null otherwise: plain words,
 * joined by `&&`, `||`, `;`, `|` and newlines, without expansions, and redirected at most to `/dev/null`.
 */
export function parsePlainCommands(text: string): readonly PlainCommand[] | null {
  if (text.length > charsMax || controls.test(text) || isIntricate(text)) return null
  const script = parseText(text)
  if (script === null) return null
  if ((script.errors?.length ?? 0) > 0 || script.shebang !== undefined) return null
  const plain: PlainCommand[] = []
  for (const { command, background } of script.commands) {
    if (background) return null
    for (const one of command.type === 'AndOr' ? command.commands : [command])
      for (const part of pipedIn(one)) {
        const known = part?.type === 'Command' ? toPlainCommand(part) : null
        if (known === null || plain.length === commandsMax) return null
        plain.push(known)
      }
  }
  // A repository in another folder may have a configuration that runs programs.
  const programs = new Set(plain.map(([program]) => program))
  return plain.length === 0 || (programs.has('cd') && programs.has('git')) ? null : plain
}

function pipedIn(command: AnyCommand): readonly (AnyCommand | null)[] {
  if (command.type !== 'Pipeline') return [command]
  if (command.prefixes.length > 0 || command.operators.some((operator) => operator !== '|')) return [null]
  return command.commands
}

function toPlainCommand({ name, prefix, suffix }: CommandNode): PlainCommand | null {
  if (!name) return null
  for (const one of prefix) if (one.type === 'Assignment' ? !isHarmless(one) : !isHarmlessRedirect(one)) return null
  const program = readPlain(name.text)
  if (program === null || program === '' || program.includes('/') || program.includes('=')) return null
  const rest: string[] = []
  for (const one of suffix) {
    if (one.type === 'Assignment') return null
    if (one.type === 'Word') {
      const value = readPlain(one.text)
      if (value === null || value !== one.value) return null
      rest.push(value)
    } else if (!isHarmlessRedirect(one)) return null
  }
  return [program, ...rest]
}

type Prefix = CommandNode['prefix'][number]

const isHarmless = ({ name, value, append, index }: Extract<Prefix, { type: 'Assignment' }>): boolean =>
  harmlessNames.has(name) && !append && !index && value.type === 'Word' && isPlainOrEmpty(value.text)

const isPlainOrEmpty = (text: string): boolean => text === '' || plainWord.test(text)

function isHarmlessRedirect(redirect: Exclude<Prefix, { type: 'Assignment' }>): boolean {
  if (redirect.type !== 'Redirect') return false
  const { operator, descriptor, target } = redirect
  if (descriptor && descriptor.type !== 'FileDescriptor') return false
  if (operator === '>&') return descriptor?.value === 2 && target?.text === '1'
  return target?.text === '/dev/null' && ['>', '>>', '<', '&>', '&>>'].includes(operator)
}

/** Returns what the shell makes of a plain word; null for any other. */
function readPlain(text: string): string | null {
  if (!plainWord.test(text)) return null
  return text.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? '')
}

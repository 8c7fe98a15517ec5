import type { AgentKind } from '@holdfast/core/ports'
import { clip, escapeLine, limits } from '@holdfast/protocol'
import { type FileProblem, readMarkdownFile } from '../front-matter/front-matter.ts'

/** What the file of a kind of agent says. */
export type AgentFile = AgentKind & {
  readonly description: string
  /** The whole text of the file. */
  readonly source: string
  readonly problems: readonly FileProblem[]
  /** Whether it can be used. */
  readonly isUsable: boolean
}

const descriptionCharsMax = 1024

/** The tools that files for Claude Code name, by our names. */
const claudeTools: Readonly<Record<string, readonly string[]>> = {
  Bash: ['shell', 'shell_output', 'shell_stop'],
  BashOutput: ['shell_output'],
  KillShell: ['shell_stop'],
  Read: ['read_file'],
  Write: ['write_file'],
  Edit: ['edit_file', 'multi_edit_file', 'apply_diff'],
  MultiEdit: ['multi_edit_file'],
  Glob: ['find', 'list_directory'],
  LS: ['list_directory'],
  Grep: ['grep'],
  WebFetch: ['fetch_url'],
  Agent: ['subagent'],
  Task: ['subagent'],
  TodoWrite: ['todo_write', 'todo_read'],
  Skill: ['skill'],
}

/** What a file may say that has no effect, and never widens what the parent may do. */
const ignored = [
  'permissionMode',
  'mcpServers',
  'hooks',
  'memory',
  'isolation',
  'initialPrompt',
  'maxTurns',
  'effort',
  'skills',
]

/** Parses the file of a kind of agent. Its body is what the subagent is told. */
export function parseAgent(fileName: string, text: string): AgentFile {
  const { fields, body, problems: read } = readMarkdownFile(text)
  const problems = [...read]
  const problem = (message: string) => problems.push({ line: null, message })
  const name = fields.text('name') ?? fileName
  const description = fields.text('description')
  if (!isAgentName(name))
    problem(
      `Its name cannot be used: at most ${limits.agentNameCharsMax} characters, without spaces, colons and slashes, and not beginning with a dash.`,
    )
  if (description === null) problem('It has no description: the model would not know what it is for.')
  for (const key of ignored)
    if (fields.has(key)) problem(`${key} has no effect: a subagent follows the session that starts it.`)
  const model = fields.text('model')
  return {
    name,
    description: oneLine(description ?? ''),
    tools: fields.has('tools') ? toolNames(fields.list('tools') ?? []) : null,
    withoutTools: toolNames(fields.list('disallowedTools') ?? []),
    model: model === null || model === 'inherit' ? null : model,
    instructions: body.trim(),
    background: fields.flag('background') ?? false,
    source: text,
    problems,
    isUsable: isAgentName(name) && description !== null,
  }
}

/** Returns tools by our names. What stands in brackets, such as `Bash(git *)`, does not count: rules decide that. */
const toolNames = (given: readonly string[]): string[] =>
  given.flatMap((item) => {
    const name = item.replace(/\(.*\)$/s, '').trim()
    return Object.hasOwn(claudeTools, name) ? [...(claudeTools[name] ?? [])] : [name]
  })

/** Returns a text on one line, short and without hidden characters. */
const oneLine = (text: string): string => escapeLine(clip(text.replace(/\s+/g, ' ').trim(), descriptionCharsMax))

/** Whether a name can be used: people type it, and other programs refuse such names too. */
const isAgentName = (name: string): boolean =>
  name !== '' && name.length <= limits.agentNameCharsMax && !name.startsWith('-') && !/[:\s/\\<>"]/u.test(name)

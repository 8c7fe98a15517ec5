import { isAbsolute, resolve } from 'node:path'
import type { ToolArgs } from '@holdfast/core/ports'
import type { HookPayload } from './payload.ts'

type Fields = readonly (readonly [own: string, theirs: string])[]

/** The tools that scripts for Claude Code know, by our name, and the fields that are called otherwise there. */
const tools: Readonly<Record<string, { readonly name: string; readonly fields: Fields }>> = {
  shell: { name: 'Bash', fields: [] },
  read_file: { name: 'Read', fields: [['path', 'file_path']] },
  write_file: { name: 'Write', fields: [['path', 'file_path']] },
  edit_file: {
    name: 'Edit',
    fields: [
      ['path', 'file_path'],
      ['old_text', 'old_string'],
      ['new_text', 'new_string'],
    ],
  },
  multi_edit_file: { name: 'Edit', fields: [['path', 'file_path']] },
  apply_diff: { name: 'Edit', fields: [['path', 'file_path']] },
  find: { name: 'Glob', fields: [] },
  grep: { name: 'Grep', fields: [] },
  fetch_url: { name: 'WebFetch', fields: [] },
  subagent: { name: 'Agent', fields: [] },
}

/** Returns the names by which a script for Claude Code knows a tool. */
export function claudeNames(tool: string): readonly string[] {
  const name = Object.hasOwn(tools, tool) ? tools[tool]?.name : undefined
  return name === 'Agent' ? ['Agent', 'Task'] : [name ?? tool]
}

const fieldsOf = (tool: string): Fields => (Object.hasOwn(tools, tool) ? (tools[tool]?.fields ?? []) : [])

/** Returns arguments as a script for Claude Code expects them. Paths are absolute there. */
export function toClaudeInput(tool: string, args: ToolArgs, workdir: string): Record<string, unknown> {
  const names = new Map(fieldsOf(tool))
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const isPath = name === 'path' && typeof value === 'string'
      return [names.get(name) ?? name, isPath ? resolve(workdir, value) : value]
    }),
  )
}

/** Returns changed arguments as our tool expects them. A path that was not changed stays as the model wrote it. */
export function fromClaudeInput(tool: string, input: ToolArgs, before: ToolArgs, workdir: string): ToolArgs {
  const names = new Map(fieldsOf(tool).map(([own, theirs]) => [theirs, own]))
  return Object.fromEntries(
    Object.entries(input).map(([theirs, value]) => {
      const name = names.get(theirs) ?? theirs
      const was = before[name]
      const isSame = name === 'path' && typeof was === 'string' && typeof value === 'string' && isAbsolute(value)
      return [name, isSame && resolve(workdir, was) === value ? was : value]
    }),
  )
}

/** Returns what a script for Claude Code expects to be told. */
export function toClaudePayload(payload: HookPayload): object {
  if (payload.hook_event_name === 'SessionEnd') return { ...payload, reason: 'other' }
  if (payload.hook_event_name !== 'PreToolUse' && payload.hook_event_name !== 'PostToolUse') return payload
  const { tool_name: tool, tool_input: args, cwd } = payload
  const name = claudeNames(tool)[0] ?? tool
  const input = toClaudeInput(tool, args, cwd)
  const named = { ...payload, tool_name: name, tool_input: input }
  if (payload.hook_event_name === 'PreToolUse') return named
  return { ...named, tool_response: responseOf(name, input, payload.tool_response.text) }
}

function responseOf(name: string, input: ToolArgs, text: string): object {
  if (name === 'Bash') return { stdout: text, stderr: '', interrupted: false, isImage: false }
  if (name === 'Write' || name === 'Edit') return { filePath: input['file_path'], success: true }
  return { content: text }
}

import type { Expansion } from '@holdfast/core/ports'
import { clip, escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { CommandSource, LateSource, SourceCommand } from '../guidance/commands/commands.ts'
import { splitArguments } from '../guidance/commands/split-arguments.ts'
import type { McpServers, PromptMessages, ServerPrompt } from '../tools/mcp/mcp-servers.ts'

const answerMs = 30_000
const aboutCharsMax = 500

/** Makes the prompts of servers slash commands: `/mcp__server__prompt first "second one"`. */
export const createPromptCommands = (servers: PromptServers): LateSource => ({
  list: listPrompts(servers),
  find: async (workdir, name) => {
    if (name.startsWith('mcp__')) await servers.prompts(workdir, [name]) // asks its server, if nobody has
  },
})

type PromptServers = Pick<McpServers, 'prompts' | 'getPrompt'>

/** Lists the prompts that are known. No server is started for that. */
const listPrompts =
  (servers: PromptServers): CommandSource =>
  async (workdir) =>
    (await servers.prompts(workdir)).map((found): SourceCommand => {
      const { name, prompt, from, file, server } = found
      const named = (prompt.arguments ?? []).map((one) => (one.required ? `<${one.name}>` : `[${one.name}]`)).join(' ')
      return {
        name,
        description: clip(prompt.description ?? prompt.title ?? prompt.name, aboutCharsMax),
        arguments: named === '' ? null : named,
        source: 'server',
        scope: from,
        path: file,
        isTrusted: true,
        server,
        expand: (given) => expandPrompt(servers, workdir, found, given),
      }
    })

async function expandPrompt(
  servers: Pick<McpServers, 'getPrompt'>,
  workdir: string,
  { name, server, prompt }: ServerPrompt,
  given: string,
): Promise<Result<Expansion>> {
  const args = readArguments(name, prompt.arguments ?? [], given)
  if (!args.ok) return args
  const call = { server, prompt: prompt.name, args: args.value }
  const messages = await servers.getPrompt(workdir, call, AbortSignal.timeout(answerMs))
  return messages.ok ? ok({ type: 'prompt', pieces: [{ type: 'text', text: toText(messages.value) }] }) : messages
}

type Declared = NonNullable<ServerPrompt['prompt']['arguments']>

/** Gives the typed words to the arguments in their declared order. The last one gets all words that are left. */
function readArguments(name: string, declared: Declared, given: string): Result<Readonly<Record<string, string>>> {
  const words = splitArguments(given)
  const bad = (why: string) => refuse(fault('bad_request', `/${name} ${why}.`, { name }))
  if (declared.length === 0) return words.length === 0 ? ok({}) : bad('takes no arguments')
  const last = declared.length - 1
  const values = declared.map((_, index) => (index === last ? words.slice(last).join(' ') : (words[index] ?? '')))
  const missing = declared.filter((one, index) => one.required === true && values[index] === '')
  if (missing.length > 0) return bad(`needs ${missing.map((one) => escapeLine(one.name)).join(', ')}`)
  return ok(Object.fromEntries(declared.flatMap((one, index) => (values[index] ? [[one.name, values[index]]] : []))))
}

/** Joins the messages of a prompt. Those of an assistant are marked, because the whole becomes one prompt of the person. */
function toText(messages: PromptMessages): string {
  return messages
    .map(({ role, content }) => `${role === 'assistant' ? 'Assistant: ' : ''}${describeContent(content)}`)
    .join('\n\n')
}

function describeContent(content: PromptMessages[number]['content']): string {
  switch (content.type) {
    case 'text':
      return content.text
    case 'resource':
      return 'text' in content.resource ? content.resource.text : `[${content.resource.uri}: a file that is not text]`
    case 'resource_link':
      return `[${content.name}](${content.uri})`
    default:
      return `[${content.type} of ${content.mimeType}, which cannot be shown]`
  }
}

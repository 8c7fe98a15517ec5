import type { Tool, ToolRun } from '@holdfast/core/ports'
import { clip, escapeLine, fault, type Output, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { type Done, defineTool, whenBegun } from '../define/define-tool.ts'
import type { McpConnection, ServerResource } from './connection/connection.ts'

type ResourceServer = {
  readonly name: string
  readonly connection: Pick<McpConnection, 'listResources' | 'readResource'>
}

type FilePart = NonNullable<Output['fileParts']>[number]

const listedMax = 200
const aboutCharsMax = 200

/** Creates the tools with which a model lists and reads the resources of servers. None if no server has resources. */
export function createResourceTools(servers: readonly ResourceServer[]): readonly Tool[] {
  if (servers.length === 0) return []
  const names = servers.map(({ name }) => name)
  const find = (name: string): Result<ResourceServer> => {
    const found = servers.find((server) => server.name === name)
    if (found) return ok(found)
    const message = `No server ${escapeLine(name)} has resources. There are: ${names.map(escapeLine).join(', ')}.`
    return refuse(fault('not_found', message, { server: name }))
  }
  return [createListTool(servers, find), createReadTool(find)]
}

type Find = (name: string) => Result<ResourceServer>

/** Finds a server that the session uses. */
function findUsed(find: Find, name: string, session: ToolRun['session']): Result<ResourceServer> {
  if (!session?.serversOff.includes(name)) return find(name)
  return refuse(fault('not_found', `The server ${escapeLine(name)} is off in this session.`, { server: name }))
}

function createListTool(servers: readonly ResourceServer[], find: Find): Tool {
  return defineTool({
    name: 'list_mcp_resources',
    description: 'Lists the resources that MCP servers offer: documents and data. Read one with read_mcp_resource.',
    input: z.strictObject({ server: z.string().min(1).optional().describe('only those of this server') }),
    changes: 'nothing',
    async preview(args) {
      const found = args.server === undefined ? ok(null) : find(args.server)
      return found.ok ? ok({ preview: { type: 'arguments', args } }) : found
    },
    run: whenBegun(async ({ server }, _, { signal, session }) => {
      const found = server === undefined ? ok(null) : findUsed(find, server, session)
      if (!found.ok) return found
      const asked = found.value ? [found.value] : servers.filter(({ name }) => !session?.serversOff.includes(name))
      if (asked.length === 0) return ok({ text: 'No server with resources is on in this session.' })
      const lists = await Promise.all(asked.map((one) => describeResources(one, signal)))
      return ok({ text: lists.join('\n\n') })
    }),
  })
}

/** Lists the resources of one server in lines. A server that fails is named, and the others count. */
async function describeResources({ name, connection }: ResourceServer, signal: AbortSignal): Promise<string> {
  const listed = await connection.listResources(signal)
  if (!listed.ok) return listed.fault.message
  const { resources, templates } = listed.value
  const lines = [
    ...resources.map((one) => lineOf(one.uri, one)),
    ...templates.map((one) => lineOf(one.uriTemplate, one)),
  ]
  if (lines.length === 0) return `The server ${escapeLine(name)} has no resources now.`
  const left = lines.length - listedMax
  const more = left > 0 ? [`[and ${left} more]`] : []
  return [`Resources of ${escapeLine(name)}:`, ...lines.slice(0, listedMax), ...more].join('\n')
}

type Described = Pick<ServerResource, 'name' | 'title' | 'description' | 'mimeType'>

function lineOf(uri: string, { name, title, description, mimeType }: Described): string {
  const about = [title ?? name, ...(mimeType === undefined ? [] : [mimeType])].join(', ')
  return escapeLine(`- ${uri} (${about})${description === undefined ? '' : `: ${clip(description, aboutCharsMax)}`}`)
}

function createReadTool(find: Find): Tool {
  return defineTool({
    name: 'read_mcp_resource',
    description: 'Reads a resource of an MCP server, by the URI that list_mcp_resources shows.',
    input: z.strictObject({
      server: z.string().min(1).describe('the name of the server'),
      uri: z.string().min(1).max(4096).describe('the URI of the resource'),
    }),
    changes: 'nothing',
    async preview(args) {
      const found = find(args.server)
      return found.ok ? ok({ preview: { type: 'arguments', args } }) : found
    },
    run: whenBegun(async ({ server, uri }, _, run) => {
      const found = findUsed(find, server, run.session)
      if (!found.ok) return found
      const read = await found.value.connection.readResource(uri, run.signal)
      return read.ok ? ok(await toDone(read.value, run)) : read
    }),
  })
}

type Contents = Extract<Awaited<ReturnType<McpConnection['readResource']>>, { ok: true }>['value']

/** Turns contents into text and files for the model. Images and PDF files are stored; other bytes are named. */
async function toDone(contents: Contents, { storeFile }: Pick<ToolRun, 'storeFile'>): Promise<Done> {
  const texts: string[] = []
  const fileParts: FilePart[] = []
  for (const content of contents) {
    if ('text' in content) {
      texts.push(content.text)
      continue
    }
    const bytes = Buffer.from(content.blob, 'base64')
    const stored = await storeFile?.(bytes, content.uri.split('/').at(-1) || 'resource')
    if (stored?.ok) fileParts.push(stored.value.file)
    else
      texts.push(
        `[${escapeLine(content.uri)}: ${bytes.length} bytes of ${escapeLine(content.mimeType ?? 'an unknown type')}, which cannot be shown]`,
      )
  }
  if (texts.length === 0 && fileParts.length === 0) texts.push('[the resource is empty]')
  return { text: texts.join('\n'), ...(fileParts.length > 0 && { fileParts }) }
}

import type { Client, Prompt, Tool as ServerTool } from '@modelcontextprotocol/client'
import type { OpenClient } from './open-client.ts'

/** What a server offers. */
export type ServerOffer = {
  readonly tools: readonly ServerTool[]
  readonly prompts: readonly Prompt[]
  /** Whether it has resources, which are listed when they are needed. */
  readonly hasResources: boolean
  /** What the server says about its use. */
  readonly about: string | null
  /** Whether it offers more than these: what is too much is left out. */
  readonly isCut: boolean
}

export type ServerResource = Awaited<ReturnType<Client['listResources']>>['resources'][number]
export type ServerResources = {
  readonly resources: readonly ServerResource[]
  /** URIs with parts to fill in. */
  readonly templates: Awaited<ReturnType<Client['listResourceTemplates']>>['resourceTemplates']
}
/** How long a server may take to answer. */
export const answerMs = 20_000
/** How long all pages of a list may take. */
const listMs = 60_000

/** Asks a server for all its tools and prompts. */
export async function listAll(
  client: Client,
  { isCut }: Pick<OpenClient, 'isCut'>,
  signal: AbortSignal,
): Promise<ServerOffer> {
  const can = client.getServerCapabilities() ?? {}
  const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(listMs)]), timeout: answerMs }
  const [{ tools }, { prompts }] = await Promise.all([
    can.tools ? client.listTools(undefined, options) : { tools: [] },
    can.prompts ? client.listPrompts(undefined, options) : { prompts: [] },
  ])
  return {
    tools: eachOnce(tools),
    prompts: eachOnce(prompts),
    hasResources: can.resources !== undefined,
    about: client.getInstructions() ?? null,
    isCut: isCut('tools/list') || isCut('prompts/list'),
  }
}

/** Of two with one name only the first can be called, and providers refuse a request that has both. */
function eachOnce<Named extends { readonly name: string }>(all: readonly Named[]): readonly Named[] {
  const seen = new Set<string>()
  return all.filter(({ name }) => !seen.has(name) && seen.add(name))
}

/** Asks a server for its resources and their templates. */
export async function listResources(client: Client, signal: AbortSignal): Promise<ServerResources> {
  const options = { signal, timeout: answerMs }
  const { resources } = await client.listResources(undefined, options)
  // Many servers have no templates, and some refuse the question.
  const { resourceTemplates } = await client
    .listResourceTemplates(undefined, options)
    .catch(() => ({ resourceTemplates: [] }))
  return { resources, templates: resourceTemplates }
}

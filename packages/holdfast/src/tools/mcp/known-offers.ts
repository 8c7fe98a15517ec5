import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OnProblem } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol'
import { z } from 'zod'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { replaceAlone } from '../../system/files/replace-alone.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import type { ServerOffer, ServerTool } from './connection/connection.ts'

const OfferFile = z.object({
  version: z.literal(1),
  tools: z.array(z.looseObject({ name: z.string(), inputSchema: z.looseObject({}) })),
  prompts: z.array(z.looseObject({ name: z.string() })),
  hasResources: z.boolean().default(false),
  about: z.string().nullable(),
  isCut: z.boolean().default(false),
  allowed: z.record(z.string(), z.string()),
})

/** What a server offered when it was last asked. */
export type KnownOffer = ServerOffer & {
  /** For each tool the hash of its description when a person last allowed a call of it, or when it was first seen. */
  readonly allowed: ReadonlyMap<string, string>
}

/** Identifies what a server says of a tool. The order of fields says nothing. */
export const hashTool = ({ name, title, description, inputSchema, outputSchema, annotations }: ServerTool): string =>
  createHash('sha256')
    .update(JSON.stringify([name, title, description, inputSchema, outputSchema, annotations], withSortedFields))
    .digest('hex')

const withSortedFields = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
    : value

/** Of so many tools it is remembered how a person allowed them. Any more count as changed. */
const allowedMax = 5000

/**
 * Remembers what servers offer, in one private file for each, so that no server must be started to tell a model of its tools. A
 * file that cannot be used counts as none.
 */
export function createKnownOffers(directory: string, onProblem: OnProblem) {
  const known = new Map<string, KnownOffer>()
  const pathOf = (key: string) => join(directory, `${key}.json`)

  async function read(key: string): Promise<KnownOffer | null> {
    const remembered = known.get(key)
    if (remembered) return remembered
    const offer = await readOffer(pathOf(key))
    if (offer) known.set(key, offer)
    return offer
  }

  async function write(key: string, offer: KnownOffer): Promise<KnownOffer> {
    known.set(key, offer)
    const { tools, prompts, hasResources, about, isCut, allowed } = offer
    const text = JSON.stringify({
      version: 1,
      tools,
      prompts,
      hasResources,
      about,
      isCut,
      allowed: Object.fromEntries(allowed),
    })
    try {
      ensurePrivateDirectory(directory)
      orThrow(await replaceAlone(pathOf(key), (replace) => replace(text)))
    } catch (cause) {
      onProblem({ where: 'what a server offers', cause }) // it is known until this process ends
    }
    return offer
  }

  /** Whether a person must sign in to a server is remembered too, in a file beside the other. */
  const signInPath = (key: string) => join(directory, `${key}.sign-in`)

  return {
    read,
    /** Returns why a person must sign in to a server; null if nobody must, as far as is known. */
    readSignIn: (key: string): Promise<string | null> =>
      readFile(signInPath(key), 'utf8').catch((error) => {
        if (systemErrorCode(error) === null) throw error
        return null
      }),
    async saveSignIn(key: string, why: string | null): Promise<void> {
      try {
        if (why === null) return await rm(signInPath(key), { force: true })
        ensurePrivateDirectory(directory)
        await writeFile(signInPath(key), why, { mode: 0o600 })
      } catch (cause) {
        onProblem({ where: 'what a server needs', cause })
      }
    },
    /**
     * Saves what a server offers now. A tool that was never seen counts as allowed as it is; one that has changed does not,
     * also if it was gone meanwhile.
     */
    async save(key: string, offer: ServerOffer): Promise<KnownOffer> {
      const before = (await read(key))?.allowed ?? new Map<string, string>()
      const fresh = offer.tools.filter(({ name }) => !before.has(name)).slice(0, Math.max(0, allowedMax - before.size))
      const allowed = new Map([...before, ...fresh.map((tool) => [tool.name, hashTool(tool)] as const)])
      return write(key, { ...offer, allowed })
    },
    /** Records that a person has allowed a call of a tool as it is now. */
    async allow(key: string, tool: ServerTool): Promise<void> {
      const offer = await read(key)
      const hash = hashTool(tool)
      if (offer === null || offer.allowed.get(tool.name) === hash) return
      await write(key, { ...offer, allowed: new Map([...offer.allowed, [tool.name, hash]]) })
    },
  }
}

export type KnownOffers = ReturnType<typeof createKnownOffers>

async function readOffer(path: string): Promise<KnownOffer | null> {
  try {
    const parsed = OfferFile.safeParse(JSON.parse(await readFile(path, 'utf8')))
    if (!parsed.success) return null
    const { tools, prompts, hasResources, about, isCut, allowed } = parsed.data
    const offer = { tools, prompts, hasResources, about, isCut } as unknown as ServerOffer // written by `write`; only checked fields are used
    return { ...offer, allowed: new Map(Object.entries(allowed)) }
  } catch (error) {
    if (error instanceof SyntaxError || systemErrorCode(error) !== null) return null
    throw error
  }
}

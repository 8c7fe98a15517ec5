import { findJsonExcess } from '@holdfast/protocol'
import type { Client, Transport } from '@modelcontextprotocol/client'

/** The most that a server may offer of one kind, on all pages together. The rest is left out. */
const itemsMax = 1000
const charsMax = 4 * 1024 * 1024
const pagesMax = 50
/** How many messages may wait until a server takes them. */
const unsentMax = 256

const itemsOf: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
}

type Page = { readonly [field: string]: unknown }
type Request = (
  asked: { readonly method: string; readonly params?: { readonly cursor?: string } },
  ...rest: readonly unknown[]
) => Promise<Page>
type Walk = { pages: number; items: number; chars: number; isCut: boolean }

/**
 * Makes a client leave out what is too much in the lists of a server: the library collects all pages, and checks and keeps all
 * that they have. Returns whether the last list of a method was cut.
 */
export function boundLists(client: Client): (method: string) => boolean {
  const request = client.request.bind(client) as unknown as Request // its overloads differ only in the type of the answer
  const walks = new Map<string, Walk>()
  const bounded: Request = async (asked, ...rest) => {
    const page = await request(asked, ...rest)
    const field = Object.hasOwn(itemsOf, asked.method) ? itemsOf[asked.method] : undefined
    const items = field === undefined ? undefined : page[field]
    if (field === undefined || !Array.isArray(items)) return page
    const isFirst = asked.params?.cursor === undefined
    const walk = (!isFirst && walks.get(asked.method)) || { pages: 0, items: 0, chars: 0, isCut: false }
    walks.set(asked.method, walk)
    const kept = items.filter((item) => fits(walk, item))
    walk.pages += 1
    const { nextCursor, ...last } = page
    walk.isCut ||= kept.length < items.length || (nextCursor !== undefined && walk.pages >= pagesMax)
    return walk.isCut ? { ...last, [field]: kept } : page
  }
  client.request = bounded as unknown as Client['request']
  return (method) => walks.get(method)?.isCut ?? false
}

/** Whether there is room for one more. From the first that does not fit, none does. */
function fits(walk: Walk, item: unknown): boolean {
  walk.items += 1
  walk.chars += JSON.stringify(item).length
  return walk.items <= itemsMax && walk.chars <= charsMax
}

/** Ends the connection to a server that does not take what it is sent: it may ask without end, and never read the answers. */
export function boundSends<Kind extends Transport>(transport: Kind, end: (why: string) => void): Kind {
  const send = transport.send.bind(transport)
  let unsent = 0
  transport.send = async (message, options) => {
    if (unsent >= unsentMax) {
      end('it does not read what it is sent')
      throw new Error('the server does not read what it is sent')
    }
    unsent += 1
    try {
      await send(message, options)
    } finally {
      unsent -= 1
    }
  }
  return transport
}

/** Ends the connection to a server that sends so many values, or so deeply nested, that to check them would hold up all sessions. */
export function boundMessages(transport: Transport, end: (why: string) => void): void {
  const take = transport.onmessage
  transport.onmessage = (message, extra) => {
    const excess = findJsonExcess(message)
    if (excess === null) take?.(message, extra)
    else end(`it sent a message that cannot be used: ${excess}`)
  }
}

/** Draws the source folders and their imports as docs/map.svg: `npm run map`. */
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { instance } from '@viz-js/viz'
import { type Room, reachableFrom, readRooms } from './rooms.ts'

export const mapPath = resolve(import.meta.dirname, '../docs/map.svg')

export async function renderMap(): Promise<string> {
  const viz = await instance()
  return `${viz.renderString(toDot(readRooms()), { format: 'svg', engine: 'dot' }).trim()}\n`
}

const packages = ['web', 'client', 'testkit', 'holdfast', 'core', 'protocol'] as const
const colors: Record<(typeof packages)[number], string> = {
  web: '#e8f1fb',
  client: '#e3f4ee',
  testkit: '#f3f3f3',
  holdfast: '#fdf3e1',
  core: '#f3ebfa',
  protocol: '#fbe9ec',
}

/** One box a folder, one frame a package. The testkit is left out: it imports nearly everything. */
function toDot(rooms: readonly Room[]): string {
  const drawn = rooms.filter(({ path }) => !path.startsWith('packages/testkit/'))
  const frames = packages.flatMap((name) => {
    const own = drawn.filter(({ path }) => path.startsWith(`packages/${name}/`))
    if (own.length === 0) return []
    const boxes = own.map(
      ({ path, files }) => `"${path}" [label="${labelOf(path)}\\n${files.length}" fillcolor="#ffffff"];`,
    )
    return [
      `subgraph "cluster_${name}" { label="${name}"; style="rounded,filled"; color="${colors[name]}"; ${boxes.join(' ')} }`,
    ]
  })
  const arrows = drawn.flatMap((room) => directImports(room, drawn).map((to) => `"${room.path}" -> "${to}";`))
  return `digraph {
    graph [rankdir=LR fontname="Helvetica" fontsize=18 nodesep=0.1 ranksep=0.22 bgcolor="#ffffff"];
    node [shape=box style="rounded,filled" color="#8a8f98" fontname="Helvetica" fontsize=12 height=0.3 margin="0.12,0.04"];
    edge [color="#8a8f98" arrowsize=0.5 penwidth=0.7];
    ${frames.join('\n')}
    ${arrows.join('\n')}
  }`
}

/** An arrow is left out where a longer way of arrows already leads there: the layers stay visible. */
function directImports({ imports }: Room, rooms: readonly Room[]): readonly string[] {
  const indirect = new Set([...imports].flatMap((path) => [...reachableFrom(path, rooms)]))
  const isDrawn = (path: string) => rooms.some((room) => room.path === path)
  return [...imports].filter((path) => isDrawn(path) && !indirect.has(path)).toSorted()
}

const labelOf = (path: string): string => path.replace(/^packages\/[a-z]+\/src\/?/, '') || 'src'

if (process.argv[1] === import.meta.filename) {
  await writeFile(mapPath, await renderMap())
  process.stdout.write(`Wrote ${mapPath}.\n`)
}

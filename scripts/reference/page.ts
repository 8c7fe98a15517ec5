import type { EntryPoint, Member, PublicName } from './library.ts'

/** Returns the reference: the text of each page by its file name. */
export function renderReference(entries: readonly EntryPoint[]): ReadonlyMap<string, string> {
  const pages = Map.groupBy(entries, ({ specifier }) => fileOf(specifier))
  return new Map(
    [...pages].map(([file, list]) => {
      const title = list.map(({ specifier }) => specifier).join(', ')
      return [file, renderPage(title, list[0]?.names ?? [])]
    }),
  )
}

/** `@holdfast/client` and `holdfast/client` export the same and share a page. */
const fileOf = (specifier: string): string => `${specifier.replace('@', '').replaceAll('/', '-')}.md`

function renderPage(title: string, names: readonly PublicName[]): string {
  const known = new Set(names.map(({ name }) => name))
  const sections = (Object.keys(headings) as PublicName['kind'][]).flatMap((kind) => {
    const ofKind = names.filter((one) => one.kind === kind)
    if (ofKind.length === 0) return []
    const index = ofKind.map(({ name }) => `[${name}](#${anchorOf(name)})`).join(' · ')
    return [`## ${headings[kind]}`, index, ...ofKind.map((one) => renderName(one, known))]
  })
  return `${[`# ${title}`, intro, ...sections].join('\n\n')}\n`
}

const intro = 'Generated from the types and their comments by `npm run reference`. Do not edit.'

const headings = { function: 'Functions', class: 'Classes', value: 'Values', type: 'Types' } as const

const anchorOf = (name: string) => name.toLowerCase()

function renderName({ name, comment, code, members }: PublicName, known: ReadonlySet<string>): string {
  const own = members.filter(({ from }) => from === null)
  const inherited = Map.groupBy(
    members.filter(({ from }) => from !== null),
    ({ from }) => from ?? '',
  )
  const others = [...inherited].map(([from, list]) => {
    const link = `[${from}](#${anchorOf(from)})`
    return list.length > listedMax
      ? `Everything of ${link}.`
      : `From ${link}: ${list.map((one) => `\`${one.name}\``).join(', ')}.`
  })
  const parts = [
    `### ${name}`,
    linked(comment, known),
    code === '' ? '' : `\`\`\`ts\n${code}\n\`\`\``,
    ...renderMembers(own),
    ...others,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** The most inherited members that are listed by name. */
const listedMax = 20

/** Renders members in sections, those of the main section and those without one first. */
function renderMembers(members: readonly Member[]): readonly string[] {
  const sections = Map.groupBy(members, ({ section }) => section)
  if (sections.size < 2) return [members.map(renderMember).join('\n')]
  const main = members.findLast(({ section }) => section !== '')?.section
  const first = [main, ''].flatMap((section) => (section === undefined ? [] : (sections.get(section) ?? [])))
  const rest = [...sections].filter(([section]) => section !== '' && section !== main)
  return [
    first.map(renderMember).join('\n'),
    ...rest.flatMap(([section, list]) => [
      `**${section[0]?.toUpperCase()}${section.slice(1)}**`,
      list.map(renderMember).join('\n'),
    ]),
  ]
}

function renderMember({ signature, comment }: Member): string {
  const code = signature
    .split('\n')
    .map((line) => `\`${line}\``)
    .join(' or ')
  return comment === '' ? `- ${code}` : `- ${code}<br>${oneLine(comment)}`
}

const oneLine = (text: string) => text.replaceAll(/\s*\n\s*/g, ' ')

/** Links the names of public types in a comment. */
const linked = (comment: string, known: ReadonlySet<string>) =>
  comment.replaceAll(/`([A-Za-z]+)`/g, (code, name) => (known.has(name) ? `[${code}](#${anchorOf(name)})` : code))

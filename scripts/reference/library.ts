import { join, relative, resolve } from 'node:path'
import { type ExportDeclaration, type Node, type ParameterDeclaration, SyntaxKind } from 'typescript/unstable/ast'
import { isExportDeclaration } from 'typescript/unstable/ast/is'
import {
  API,
  NodeBuilderFlags,
  type Project,
  type Symbol as PublicSymbol,
  type Signature,
  SignatureKind,
  SymbolFlags,
  type Type,
  type TypeReference,
} from 'typescript/unstable/sync'
import { published, publishedEntries } from '../published.ts'
import { createTypeNames } from './type-names.ts'

const root = resolve(import.meta.dirname, '../..')

/** A property or method of a public type. */
export type Member = {
  readonly name: string
  /** Its name and type as a program sees them, such as `close(): Promise<void>`. */
  readonly signature: string
  readonly comment: string
  /** Whether its type is written on one line, so that the comment of the type explains all fields. */
  readonly isBrief: boolean
  /** The public type that declares it, if that is another one. */
  readonly from: string | null
  /** What the methods around it are for, if a function makes them and says so. */
  readonly section: string
}

/** One public name. */
export type PublicName = {
  readonly name: string
  readonly kind: 'function' | 'class' | 'value' | 'type'
  readonly comment: string
  /** The signatures of a function, the type of a value, or a type without a list of members; else ''. */
  readonly code: string
  readonly members: readonly Member[]
}

/** One entry point: the names that a program imports from `specifier`. */
export type EntryPoint = { readonly specifier: string; readonly names: readonly PublicName[] }

const documented = ['holdfast', 'client']

/** Reads every public name of the library with its comment from the sources. */
export function readLibrary(): readonly EntryPoint[] {
  const api = new API({ cwd: root })
  try {
    const config = join(root, 'tsconfig.json')
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (!project) throw new Error(`${config} is not a project.`)
    const entries = published
      .toSorted((a, b) => documented.indexOf(a.folder) - documented.indexOf(b.folder))
      .filter(({ folder }) => documented.includes(folder))
      .flatMap(publishedEntries)
      .map(({ specifier, source }) => ({ specifier, found: findExports(project, join(root, source)) }))
    const all = entries.flatMap(({ found }) => found)
    return entries.map(({ specifier, found }) => {
      const printer = createPrinter(project, found, all)
      const names = found.map(printer.describe)
      return { specifier, names: names.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    })
  } finally {
    api.close()
  }
}

const flags =
  NodeBuilderFlags.NoTruncation |
  NodeBuilderFlags.UseAliasDefinedOutsideCurrentScope |
  NodeBuilderFlags.UseSingleQuotesForStringLiteralType |
  NodeBuilderFlags.OmitParameterModifiers |
  NodeBuilderFlags.IgnoreErrors

const signatureCharsMax = 180

type Found = {
  readonly name: string
  readonly symbol: PublicSymbol
  /** The export itself, which may have a comment of its own. */
  readonly exported: PublicSymbol
}

/** Returns the names that a program can import from a file. */
function findExports(project: Project, file: string): readonly Found[] {
  const { program, checker } = project
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) throw new Error(`${relative(root, file)} is not a module.`)
  // `export type *` also lists the values of a module, which cannot be imported.
  const typesOnly = new Set(
    source.statements.filter(isTypesOfModule).flatMap(({ moduleSpecifier }) => {
      const from = moduleSpecifier && checker.getSymbolAtLocation(moduleSpecifier)
      return from ? checker.getExportsOfModule(from).map((symbol) => resolveAlias(project, symbol).id) : []
    }),
  )
  return checker
    .getExportsOfModule(module)
    .map((exported) => ({ name: exported.name, exported, symbol: resolveAlias(project, exported) }))
    .filter(({ symbol }) => isType(symbol) || !typesOnly.has(symbol.id))
}

const isTypesOfModule = (node: Node): node is ExportDeclaration =>
  isExportDeclaration(node) && node.isTypeOnly && node.exportClause === undefined

const isType = ({ flags: of }: PublicSymbol) =>
  (of & (SymbolFlags.TypeAlias | SymbolFlags.Interface | SymbolFlags.Class)) !== 0

const resolveAlias = ({ checker }: Project, symbol: PublicSymbol) =>
  symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

/** Describes the names of one entry point; `all` are those of every entry point. */
function createPrinter(project: Project, found: readonly Found[], all: readonly Found[]) {
  const { checker, emitter } = project
  const print = (type: Type, more = 0) => checker.typeToString(type, undefined, flags | more)
  const typesOf = (list: readonly Found[]) => list.filter(({ symbol }) => isType(symbol))
  const named = createTypeNames(
    typesOf(all).map(({ name, symbol }) => [name, print(checker.getDeclaredTypeOfSymbol(symbol))] as const),
  )
  /** The public types by the place of their declaration. */
  const owners = new Map(typesOf(found).map(({ name, symbol }) => [placeOf(typeNode(symbol)), name]))

  function describe({ name, symbol, exported }: Found): PublicName {
    const comment = commentOf(symbol) || namespaceComment(exported)
    if (!isType(symbol)) return { name, comment, ...describeValue(name, symbol) }
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    const kind = symbol.flags & SymbolFlags.Class ? 'class' : 'type'
    const bases = basesOf(symbol)
    const members = type.isUnionType() ? [] : ownProperties(type).map((one) => memberOf(one, name, bases))
    return { name, comment, kind, members, code: members.length > 0 ? '' : writtenType(name, symbol, type) }
  }

  function describeValue(name: string, symbol: PublicSymbol): Pick<PublicName, 'kind' | 'code' | 'members'> {
    if (symbol.flags & SymbolFlags.ValueModule) {
      const members = checker.getExportsOfModule(symbol).map((one) => memberOf(resolveAlias(project, one), name))
      return { kind: 'value', code: '', members }
    }
    const type = checker.getTypeOfSymbol(symbol)
    if (!type) throw new Error(`${name} has no type.`)
    const kind = isFunction(type) ? 'function' : 'value'
    return { kind, code: isFunction(type) ? signatures(name, type) : `${name}: ${named(print(type))}`, members: [] }
  }

  /** A name taken out of a module by destructuring has the comment of that module's export. */
  function commentOf(symbol: PublicSymbol): string {
    const node = symbol.valueDeclaration?.resolve()
    const list = node?.kind === SyntaxKind.BindingElement ? node.parent?.parent : undefined
    const from = list && 'initializer' in list ? checker.getTypeAtLocation(list.initializer as Node) : undefined
    const original = from && checker.getPropertyOfType(from, symbol.name)
    return checker.getDocumentationCommentOfSymbol(original ? resolveAlias(project, original) : symbol).trim()
  }

  /** Leaves out what the language and other libraries declare, such as the methods of a string. */
  const ownProperties = (type: Type) =>
    checker.getPropertiesOfType(type).filter(({ name, declarations: [first] }) => {
      const isOurs = first?.path.startsWith(`${root}/packages/`) && !first.path.includes('/node_modules/')
      return isOurs && !name.startsWith('__@')
    })

  /** The public types that a type adds to, with the names of their members: `AttachedSession = Session & …`. */
  function basesOf(symbol: PublicSymbol): readonly (readonly [base: string, members: ReadonlySet<string>])[] {
    const node = typeNode(symbol)
    const parts = node && 'type' in node ? intersectedTypes(node.type as Node | undefined) : []
    return parts.flatMap((part) => {
      const base = found.find(({ name, symbol: of }) => name === part && of !== symbol && isType(of))
      const type = base && checker.getDeclaredTypeOfSymbol(base.symbol)
      return type ? [[part, new Set(ownProperties(type).map(({ name }) => name))] as const] : []
    })
  }

  function memberOf(property: PublicSymbol, of: string, bases: ReturnType<typeof basesOf> = []): Member {
    const { name } = property
    const type = checker.getTypeOfSymbol(property)
    const key = `${name}${property.flags & SymbolFlags.Optional ? '?' : ''}`
    const owner = owners.get(placeOf(enclosingType(property.declarations[0]?.resolve())))
    const comment = commentOf(property)
    const base = bases.find(([, members]) => members.has(name))?.[0]
    const from = base ?? (owner === undefined || owner === of ? null : owner)
    const isBrief = isOnFirstLine(property.declarations[0]?.resolve())
    const section = sectionOf(property.declarations[0]?.resolve())
    if (!type) return { name, signature: key, comment, isBrief, from, section }
    const called = property.flags & SymbolFlags.Optional ? checker.getNonNullableType(type) : type
    const signature = called && isFunction(called) ? signatures(key, called) : `${key}: ${typeOf(property, type)}`
    return { name, signature: withoutUndefined(signature), comment, isBrief, from, section }
  }

  /** Prefers a type as it is written, which is shorter than the resolved one. */
  function typeOf(property: PublicSymbol, type: Type): string {
    const node = property.valueDeclaration?.resolve()
    const isWritten = node?.kind === SyntaxKind.PropertySignature && 'type' in node && node.type
    return isWritten ? oneLine((node.type as Node).getText()) : named(print(type))
  }

  const isFunction = (type: Type) => checker.getSignaturesOfType(type, SignatureKind.Call).length > 0

  const signatures = (name: string, type: Type) =>
    checker
      .getSignaturesOfType(type, SignatureKind.Call)
      .map((one) => name + signatureText(one))
      .join('\n')

  /** Prints a signature with resolved types; as it is written if that would be too long. */
  function signatureText(signature: Signature): string {
    const node = checker.signatureToSignatureDeclaration(signature, SyntaxKind.MethodSignature, undefined, flags)
    const printed = node ? namedOptions(named(oneLine(emitter.printNode(node)))).replace(/;$/, '') : ''
    const resolved = printed.replace(
      /CommandResult<'\w+'>|(?<=Promise<)\{ readonly seq: number; \}/,
      (short) => resultFields(signature) ?? short,
    )
    const written = signature.declaration?.resolve()
    if (resolved.length <= signatureCharsMax || !written || !isFunctionLike(written)) return withoutUndefined(resolved)
    const returned = checker.getReturnTypeOfSignature(signature)
    const parameters = written.parameters.map(({ name, type, initializer, questionToken, dotDotDotToken }) => {
      const optional = initializer || questionToken ? '?' : ''
      return `${dotDotDotToken ? '...' : ''}${oneLine(name.getText())}${optional}: ${oneLine(type?.getText() ?? 'unknown')}`
    })
    const result = oneLine(written.type?.getText() ?? (returned ? named(print(returned)) : 'unknown'))
    return withoutUndefined(namedOptions(`(${parameters.join(', ')}): ${result}`))
  }

  /** Returns the fields of a command's result, which its type only names by the command. */
  function resultFields(signature: Signature): string | null {
    const promise = checker.getReturnTypeOfSignature(signature)
    const [result] = promise ? checker.getTypeArguments(promise as TypeReference) : []
    if (!result) return null
    const fields = checker.getPropertiesOfType(result).map((field) => {
      const isOptional = (field.flags & SymbolFlags.Optional) !== 0
      const type = checker.getTypeOfSymbol(field)
      const shown = type && isOptional ? checker.getNonNullableType(type) : type
      return `${field.name}${isOptional ? '?' : ''}: ${shown ? named(print(shown)) : 'unknown'}`
    })
    return `{ ${fields.join('; ')} }`
  }

  /** Returns a type as it is written, or resolved if it is derived from a schema. */
  function writtenType(name: string, symbol: PublicSymbol, type: Type): string {
    const text = typeNode(symbol)?.getText() ?? ''
    const isDerived = /\b(infer|input|output)</.test(text) || !text.startsWith('export type')
    if (!isDerived) return text.replace(/^export /, '')
    const resolved = print(type, NodeBuilderFlags.InTypeAlias)
    const variants =
      type.isUnionType() && resolved.includes('{') ? type.getTypes()?.map((one) => named(print(one))) : null
    return variants
      ? `type ${name} =\n${variants.map((one) => `  | ${one}`).join('\n')}`
      : `type ${name} = ${resolved.includes('$brand') ? resolved : named(resolved, name)}`
  }

  return { describe }
}

type FunctionLike = Node & {
  readonly parameters: readonly ParameterDeclaration[]
  readonly type?: Node | undefined
}

const isFunctionLike = (node: Node): node is FunctionLike => 'parameters' in node

/** Returns the comment above `export * as name from`. */
function namespaceComment({ declarations: [first] }: PublicSymbol): string {
  if (first?.kind !== SyntaxKind.NamespaceExport) return ''
  const [comment] = first.resolve()?.parent?.jsDoc ?? []
  return comment?.getText().replaceAll(/^\/\*\*\s*|\s*\*\/$/g, '') ?? ''
}

/** Returns the declaration of a type, which may share its name with a schema. */
const typeNode = ({ declarations }: PublicSymbol): Node | undefined =>
  declarations.find(({ kind }) => typeKinds.has(kind))?.resolve()

const typeKinds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.ClassDeclaration,
])

const placeOf = (node: Node | undefined): string => (node ? `${node.getSourceFile().fileName}:${node.pos}` : '')

function enclosingType(node: Node | undefined): Node | undefined {
  return !node || typeKinds.has(node.kind) ? node : enclosingType(node.parent)
}

/** Returns what a method is for, by the comment of the function or type around it: `Methods for …`. */
function sectionOf(node: Node | undefined): string {
  let statement = node
  while (statement?.parent && statement.parent.kind !== SyntaxKind.SourceFile) statement = statement.parent
  const comment = statement?.jsDoc?.[0]?.getText().replaceAll(/^\/\*\*\s*|\s*\*\/$|\n\s*\*/g, '') ?? ''
  return /^Methods (for|of) (.*?)\.(?= |$)/s.exec(comment)?.[2] ?? ''
}

/** Returns the names of the types in `A & B & { … }`. */
function intersectedTypes(node: Node | undefined): readonly string[] {
  if (node?.kind !== SyntaxKind.IntersectionType || !('types' in node)) return []
  return (node.types as readonly Node[]).map((part) => part.getText())
}

/** Whether a declaration starts on the first line of its statement. */
function isOnFirstLine(node: Node | undefined): boolean {
  if (!node) return false
  let statement = node
  while (statement.parent && statement.parent.kind !== SyntaxKind.SourceFile) statement = statement.parent
  return statement !== node && !node.getSourceFile().text.slice(statement.getStart(), node.getStart()).includes('\n')
}

const oneLine = (text: string) => text.replaceAll(/\s*\/\*\*.*?\*\/\s*/gs, ' ').replaceAll(/\s+/g, ' ')

/** Names a parameter that is taken apart in the parameter list. */
const namedOptions = (text: string) => text.replaceAll(/\{[^{}:]*\}(?=\??: \w)/g, 'options')

/** An optional field or parameter may always be undefined. */
const withoutUndefined = (text: string) => text.replaceAll(/(\?: [^;,{}]*?) \| undefined(?=[;,)]|$)/g, '$1')

// swc's visitor does not know `using` yet and stops at the first one.
import { Visitor } from '@swc/core/Visitor.js'
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser'

type Using = { readonly type: string; readonly decls: Parameters<Visitor['visitVariableDeclarators']>[0] }
const { visitStatement } = Visitor.prototype
Visitor.prototype.visitStatement = function (this: Visitor, statement) {
  const using = statement as unknown as Using // a statement type that swc's own types lack
  if (using.type !== 'UsingDeclaration') return visitStatement.call(this, statement)
  this.visitVariableDeclarators(using.decls)
  return statement
}

/** Test files, which may import anything. */
export const inTests = '([.](test|fixture)[.]tsx?$|/testing/|^test/)'

/** Returns the modules of the packages and the import rules they break. */
export async function cruiseProduct(forbidden: readonly IForbiddenRuleType[]): Promise<ICruiseResult> {
  const { output } = await cruise(
    ['packages'],
    {
      // Without swc it reads no TypeScript 7, checks nothing and passes.
      parser: 'swc',
      tsPreCompilationDeps: true, // type-only imports count too
      doNotFollow: { path: 'node_modules' },
      exclude: { path: [inTests, '^packages/web/dist/', '[.]config[.]ts$'] },
      validate: true,
      ruleSet: { forbidden: [...forbidden] },
    },
    {
      exportsFields: ['exports'],
      conditionNames: ['import', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js'],
    },
  )
  if (typeof output === 'string') throw new Error('dependency-cruiser gave a report instead of a result')
  return output
}

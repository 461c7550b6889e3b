import type {
  AssignmentStatement,
  BinaryExpression,
  CallExpression,
  Expression,
  ForGenericStatement,
  ForNumericStatement,
  FunctionDeclaration,
  Identifier,
  IfStatement,
  IndexExpression,
  LocalStatement,
  LogicalExpression,
  MemberExpression,
  RepeatStatement,
  ReturnStatement,
  Statement,
  StringCallExpression,
  TableCallExpression,
  TableConstructorExpression,
  UnaryExpression,
  VarargLiteral,
  WhileStatement,
} from 'luaparse';
import { globalValue, isLibrary, libraryValue } from './globals.ts';
import { lineOf, Scope, unsupported } from './scope.ts';

type Call = CallExpression | StringCallExpression | TableCallExpression;
type Target = Identifier | MemberExpression | IndexExpression;

const ARITHMETIC: Readonly<Record<string, string>> = {
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '%': 'modulo',
  '^': 'power',
  '..': 'concat',
};
const COMPARISONS: Readonly<Record<string, string>> = {
  '<': 'less',
  '<=': 'lessOrEqual',
  '>': 'greater',
  '>=': 'greaterOrEqual',
};

/** Writes JavaScript for the syntax tree of a script. The names of functions in it are those of `runtime.ts`. */
export class Generator {
  readonly #scope = new Scope();
  /** Variables for values in between, of the functions that are being written, innermost last. */
  readonly #temporaries: string[][] = [];
  readonly #varargs: string[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  /** The body of a function of the parameters `redis`, `os`, `KEYS` and `ARGV`. */
  script(body: readonly Statement[]): string {
    return this.#body(body);
  }

  #body(body: readonly Statement[]): string {
    const temporaries: string[] = [];
    this.#temporaries.push(temporaries);
    const text = this.#block(body);
    this.#temporaries.pop();
    const end = body.at(-1)?.type === 'ReturnStatement' ? '' : 'return NONE;\n';
    return (temporaries.length > 0 ? `let ${temporaries.join(', ')};\n` : '') + text + end;
  }

  #block(body: readonly Statement[]): string {
    return this.#scope.within(() => this.#statements(body));
  }

  #statements(body: readonly Statement[]): string {
    return body.map((statement) => this.#statement(statement)).join('');
  }

  #statement(node: Statement): string {
    switch (node.type) {
      case 'LocalStatement':
        return this.#local(node);
      case 'AssignmentStatement':
        return this.#assignment(node);
      case 'CallStatement':
        return `${this.#rawCall(node.expression)};\n`;
      case 'FunctionDeclaration':
        return this.#declaration(node);
      case 'ReturnStatement':
        return this.#return(node);
      case 'BreakStatement':
        return 'break;\n';
      case 'DoStatement':
        return `{\n${this.#block(node.body)}}\n`;
      case 'GotoStatement':
      case 'LabelStatement':
        throw unsupported(node, 'goto');
      default:
        return this.#branchOrLoop(node);
    }
  }

  #branchOrLoop(
    node: IfStatement | WhileStatement | RepeatStatement | ForNumericStatement | ForGenericStatement,
  ): string {
    switch (node.type) {
      case 'IfStatement':
        return this.#if(node);
      case 'WhileStatement':
        return `while (${this.#condition(node.condition)}) {\n${this.#block(node.body)}}\n`;
      case 'RepeatStatement':
        return this.#scope.within(() => {
          const body = this.#statements(node.body);
          return `while (true) {\n${body}if (${this.#condition(node.condition)}) break;\n}\n`;
        });
      case 'ForNumericStatement':
        return this.#numericFor(node);
      default:
        return this.#genericFor(node);
    }
  }

  #if({ clauses }: IfStatement): string {
    const parts = clauses.map((clause) => {
      const body = `{\n${this.#block(clause.body)}}`;
      return clause.type === 'ElseClause' ? body : `if (${this.#condition(clause.condition)}) ${body}`;
    });
    return `${parts.join(' else ')}\n`;
  }

  #local({ variables, init }: LocalStatement): string {
    if (!this.#isSpread(init.at(-1)) || variables.length <= init.length) {
      const values = init.map((value) => this.expression(value));
      const names = variables.map((variable) => this.#scope.declare(variable.name));
      const declared = names.map((name, at) => `${name} = ${values[at] ?? 'undefined'}`).join(', ');
      return `let ${declared};\n${values
        .slice(names.length)
        .map((value) => `${value};\n`)
        .join('')}`;
    }
    const values = this.#list(init);
    const names = variables.map((variable) => this.#scope.declare(variable.name));
    return `let [${names.join(', ')}] = ${values};\n`;
  }

  #assignment({ variables, init }: AssignmentStatement): string {
    const [only] = variables;
    if (variables.length === 1 && init.length === 1 && only)
      return this.#store(only, this.expression(init[0] as Expression));
    const values = this.#scope.fresh('values');
    const stores = variables.map((variable, at) => this.#store(variable, `${values}[${at}]`));
    return `{ const ${values} = ${this.#list(init)};\n${stores.join('')}}\n`;
  }

  #store(target: Target, value: string): string {
    if (target.type === 'Identifier') {
      const name = this.#scope.find(target.name);
      if (name === undefined) throw unsupported(target, `a global variable ('${target.name}')`);
      return `${name} = ${value};\n`;
    }
    return `setIndex(${this.expression(target.base)}, ${this.#keyOf(target)}, ${value});\n`;
  }

  #keyOf(node: MemberExpression | IndexExpression): string {
    return node.type === 'MemberExpression'
      ? JSON.stringify(node.identifier.name)
      : this.expression(node.index);
  }

  #declaration(node: FunctionDeclaration): string {
    const { identifier, isLocal } = node;
    if (!identifier) throw unsupported(node, 'a function without a name as a statement');
    if (isLocal && identifier.type === 'Identifier') {
      const name = this.#scope.declare(identifier.name);
      return `const ${name} = ${this.#function(node)};\n`;
    }
    return this.#store(identifier, this.#function(node));
  }

  #function({ parameters, body, identifier }: FunctionDeclaration): string {
    return this.#scope.within(() => {
      const isMethod = identifier?.type === 'MemberExpression' && identifier.indexer === ':';
      const names = isMethod ? [this.#scope.declare('self')] : [];
      for (const parameter of parameters)
        if (parameter.type === 'Identifier') names.push(this.#scope.declare(parameter.name));
      const isVariadic = parameters.at(-1)?.type === 'VarargLiteral';
      const varargs = isVariadic ? this.#scope.fresh('varargs') : '';
      this.#varargs.push(varargs);
      const text = this.#body(body);
      this.#varargs.pop();
      const all = isVariadic ? [...names, `...${varargs}`] : names;
      return `((${all.join(', ')}) => {\n${text}})`;
    });
  }

  #return({ arguments: values }: ReturnStatement): string {
    const [only] = values;
    if (!only) return 'return NONE;\n';
    if (values.length > 1 || (only.type === 'VarargLiteral' && this.#isSpread(only)))
      return `return multi(${this.#list(values)});\n`;
    return `return ${this.#isSpread(only) ? this.#rawCall(only as Call) : this.expression(only)};\n`;
  }

  #numericFor({ variable, start, end, step, body }: ForNumericStatement): string {
    const [at, limit, by] = [this.#scope.fresh('at'), this.#scope.fresh('limit'), this.#scope.fresh('by')];
    const head =
      `let ${at} = loopNumber(${this.expression(start)}, 'initial value'), ` +
      `${limit} = loopNumber(${this.expression(end)}, 'limit'), ` +
      `${by} = ${step ? `loopNumber(${this.expression(step)}, 'step')` : '1'}`;
    const test = step ? `${by} > 0 ? ${at} <= ${limit} : ${at} >= ${limit}` : `${at} <= ${limit}`;
    return this.#scope.within(() => {
      const name = this.#scope.declare(variable.name);
      return `for (${head}; ${test}; ${at} += ${by}) {\nlet ${name} = ${at};\n${this.#block(body)}}\n`;
    });
  }

  #genericFor(node: ForGenericStatement): string {
    const over = this.#iterated(node);
    if (over?.kind === 'ipairs') return this.#ipairsFor(node, over.table);
    if (over) {
      const entry = this.#scope.fresh('entry');
      return `for (const ${entry} of entriesOf(${over.table})) {\n${this.#loopBody(node, entry)}}\n`;
    }
    const [next, state, control, values] = ['next', 'state', 'control', 'values'].map((name) =>
      this.#scope.fresh(name),
    ) as [string, string, string, string];
    return (
      `{ let [${next}, ${state}, ${control}] = ${this.#list(node.iterators)};\nwhile (true) {\n` +
      `const ${values} = every(${next}(${state}, ${control}));\nif (${values}[0] === undefined) break;\n` +
      `${control} = ${values}[0];\n${this.#loopBody(node, values)}}\n}\n`
    );
  }

  #ipairsFor(node: ForGenericStatement, over: string): string {
    const [table, at, entry] = ['table', 'at', 'entry'].map((name) => this.#scope.fresh(name));
    return (
      `{ const ${table} = tableOf(${over});\nfor (let ${at} = 1; ; ${at}++) {\n` +
      `const ${entry} = [${at}, ${table}.get(${at})];\nif (${entry}[1] === undefined) break;\n` +
      `${this.#loopBody(node, entry ?? '')}}\n}\n`
    );
  }

  /** The table, if the loop is over `pairs` or `ipairs` of one. */
  #iterated({ iterators }: ForGenericStatement): { kind: string; table: string } | undefined {
    const [call] = iterators;
    if (iterators.length !== 1 || call?.type !== 'CallExpression' || call.arguments.length !== 1)
      return undefined;
    const kind = call.base.type === 'Identifier' ? call.base.name : '';
    if (!['pairs', 'ipairs'].includes(kind) || this.#scope.find(kind) !== undefined) return undefined;
    return { kind, table: this.expression(call.arguments[0] as Expression) };
  }

  #loopBody({ variables, body }: ForGenericStatement, values: string): string {
    return this.#scope.within(() => {
      const names = variables.map(
        (variable, at) => `${this.#scope.declare(variable.name)} = ${values}[${at}]`,
      );
      return `let ${names.join(', ')};\n${this.#block(body)}`;
    });
  }

  /** JavaScript for exactly one value. */
  expression(node: Expression): string {
    switch (node.type) {
      case 'NilLiteral':
        return 'undefined';
      case 'StringLiteral':
        return JSON.stringify(node.value);
      case 'BooleanLiteral':
      case 'NumericLiteral':
        return String(node.value);
      case 'VarargLiteral':
        return `${this.#varargsOf(node)}[0]`;
      case 'Identifier':
        return this.#variable(node);
      case 'FunctionDeclaration':
        return this.#function(node);
      case 'TableConstructorExpression':
        return this.#table(node);
      default:
        return this.#compound(node);
    }
  }

  #compound(
    node: BinaryExpression | LogicalExpression | UnaryExpression | MemberExpression | IndexExpression | Call,
  ): string {
    switch (node.type) {
      case 'BinaryExpression':
        return this.#binary(node);
      case 'LogicalExpression':
        return this.#logical(node);
      case 'UnaryExpression':
        return this.#unary(node);
      case 'MemberExpression':
      case 'IndexExpression':
        return this.#index(node);
      default:
        return `first(${this.#rawCall(node)})`;
    }
  }

  #variable(node: Identifier): string {
    return this.#scope.find(node.name) ?? globalValue(node.name, node);
  }

  #varargsOf(node: VarargLiteral): string {
    const varargs = this.#varargs.at(-1) ?? '';
    if (varargs === '') throw unsupported(node, "'...' outside of a function that takes it");
    return varargs;
  }

  #index(node: MemberExpression | IndexExpression): string {
    const { base } = node;
    if (base.type === 'Identifier' && this.#scope.find(base.name) === undefined && isLibrary(base.name)) {
      if (node.type === 'IndexExpression') throw unsupported(node, 'a library as a table');
      return libraryValue(base.name, node.identifier.name, node);
    }
    return `index(${this.expression(base)}, ${this.#keyOf(node)})`;
  }

  #binary(node: BinaryExpression): string {
    const [left, right] = [this.expression(node.left), this.expression(node.right)];
    if (node.operator === '==') return `(${left} === ${right})`;
    if (node.operator === '~=') return `(${left} !== ${right})`;
    const name = ARITHMETIC[node.operator] ?? COMPARISONS[node.operator];
    if (name === undefined) throw unsupported(node, `the operator '${node.operator}'`);
    return `${name}(${left}, ${right})`;
  }

  #unary(node: UnaryExpression): string {
    const { operator, argument } = node;
    if (operator === 'not') return `!${this.#condition(argument)}`;
    if (operator === '-') return `negate(${this.expression(argument)})`;
    if (operator === '#') return `length(${this.expression(argument)})`;
    throw unsupported(node, `the operator '${operator}'`);
  }

  #logical({ operator, left, right }: LogicalExpression): string {
    const temporary = this.#scope.fresh('value');
    this.#temporaries.at(-1)?.push(temporary);
    const isFalse = `((${temporary} = ${this.expression(left)}) === undefined || ${temporary} === false)`;
    const other = this.expression(right);
    return operator === 'and'
      ? `(${isFalse} ? ${temporary} : ${other})`
      : `(${isFalse} ? ${other} : ${temporary})`;
  }

  /** JavaScript for a condition, true or false. */
  #condition(node: Expression): string {
    if (node.type === 'LogicalExpression')
      return `(${this.#condition(node.left)} ${node.operator === 'and' ? '&&' : '||'} ${this.#condition(node.right)})`;
    const isBoolean =
      node.type === 'BooleanLiteral' ||
      (node.type === 'UnaryExpression' && node.operator === 'not') ||
      (node.type === 'BinaryExpression' &&
        (node.operator === '==' || node.operator === '~=' || Object.hasOwn(COMPARISONS, node.operator)));
    return isBoolean ? this.expression(node) : `isTrue(${this.expression(node)})`;
  }

  #table({ fields }: TableConstructorExpression): string {
    const values: Expression[] = [];
    const keyed: string[] = [];
    for (const field of fields) {
      if (field.type === 'TableValue') values.push(field.value);
      else {
        const key = field.type === 'TableKey' ? this.expression(field.key) : JSON.stringify(field.key.name);
        keyed.push(key, this.expression(field.value));
      }
    }
    if (keyed.length === 0) return `new LuaTable(${this.#list(values)})`;
    return `tableWith(${this.#list(values)}, [${keyed.join(', ')}])`;
  }

  /** A JavaScript array of all values. */
  #list(nodes: readonly Expression[]): string {
    return `[${this.#arguments(nodes)}]`;
  }

  /** `parentheses`: how many pairs around the last of them belong to a call. */
  #arguments(nodes: readonly Expression[], parentheses = 0): string {
    return nodes
      .map((node, at) => {
        if (at < nodes.length - 1 || !this.#isSpread(node, parentheses)) return this.expression(node);
        if (node.type === 'VarargLiteral') return `...${this.#varargsOf(node)}`;
        return `...every(${this.#rawCall(node as Call)})`;
      })
      .join(', ');
  }

  /** A call with its result as it is, perhaps several values. */
  #rawCall(node: Call): string {
    const { base } = node;
    const given = argumentsOf(node);
    const isBare = given.length === 1 && node.type === 'CallExpression';
    const args = this.#arguments(given, isBare ? 1 : 0);
    const rest = args === '' ? '' : `, ${args}`;
    if (base.type === 'MemberExpression' && base.indexer === ':')
      return `invoke(${this.expression(base.base)}, ${JSON.stringify(base.identifier.name)}${rest})`;
    if (base.type !== 'Identifier' || base.name !== 'error' || this.#scope.find('error') !== undefined)
      return `${this.expression(base)}(${args})`;
    return `raise(${lineOf(node)}${rest})`;
  }

  /** Whether the expression may have several values: in parentheses it has one, which luaparse does not tell. */
  #isSpread(node: (Expression & { range?: [number, number] }) | undefined, parentheses = 0): boolean {
    if (!node || (node.type !== 'VarargLiteral' && !node.type.endsWith('CallExpression'))) return false;
    const [start, end] = node.range ?? [0, 0];
    const opened = countOf(/[(\s]*$/u, this.#source.slice(Math.max(0, start - 20), start));
    const closed = countOf(/^[)\s]*/u, this.#source.slice(end, end + 20));
    return Math.min(opened, closed) <= parentheses;
  }
}

/** How many characters match, but for spaces. */
function countOf(pattern: RegExp, text: string): number {
  return pattern.exec(text)?.[0].replaceAll(/\s/gu, '').length ?? 0;
}

function argumentsOf(node: Call): readonly Expression[] {
  if (node.type === 'CallExpression') return node.arguments;
  return [node.type === 'TableCallExpression' ? node.arguments : node.argument];
}

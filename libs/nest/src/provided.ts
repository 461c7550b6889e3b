import type { FactoryProvider } from '@nestjs/common';

declare const VALUE: unique symbol;

/** The token of what is provided without being a class. */
export type Token<T> = symbol & { readonly [VALUE]: T };

export function token<T>(description: string): Token<T> {
  return Symbol(description) as Token<T>;
}

type Key<T> = Token<T> | (abstract new (...args: never[]) => T);

type Values<Keys extends readonly Key<unknown>[]> = {
  [Index in keyof Keys]: Keys[Index] extends Token<infer T>
    ? T
    : Keys[Index] extends abstract new (...args: never[]) => infer T
      ? T
      : never;
};

/** A provider that is made of the values of other keys, in their order. Its types follow from the keys. */
export function provided<T, const Keys extends readonly Key<unknown>[]>(
  provide: Key<T>,
  inject: Keys,
  useFactory: (...values: Values<Keys>) => NoInfer<T> | Promise<NoInfer<T>>,
): FactoryProvider {
  return { provide, inject: [...inject], useFactory };
}

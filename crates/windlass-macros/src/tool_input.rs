//! Expansion of the derive.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, LitStr, Meta, Path, Result, Token, Type, Visibility, parse_quote,
};

/// A derive cannot add another derive to its type. So a twin of the type has the derives of serde and schemars, with
/// all attributes that the type gives them; serde reads the type itself through the twin (`remote`), and the schema is
/// that of the twin.
pub(crate) fn expand(input: DeriveInput, root: &str) -> Result<TokenStream> {
    let root = named_root(&input.attrs)?.unwrap_or_else(|| root.to_owned());
    check(&input)?;
    let (ident, name) = (input.ident.clone(), input.ident.to_string());
    let twin_ident = format_ident!("__{ident}");
    let derived: Path = syn::parse_str(&format!("{root}::derived"))?;
    let (serde, schemars) = (format!("{root}::derived::serde"), format!("{root}::derived::schemars"));

    let asserted = plain_types(&input).map(|plain| quote_spanned!(plain.span()=> assert_input::<#plain>();));
    let asserted: TokenStream = asserted.collect();
    let mut twin = twin(input);
    twin.ident = twin_ident.clone();
    twin.attrs.push(parse_quote!(#[serde(crate = #serde, remote = #name)]));
    twin.attrs.push(parse_quote!(#[schemars(crate = #schemars)]));
    Ok(quote! {
        #[allow(clippy::all, dead_code, non_camel_case_types, unused_qualifications, reason = "generated")]
        const _: () = {
            // This check makes the first error name the missing derive in terms of tools.
            fn assert_input<T: #derived::ToolInput>() {}
            const _: fn() = || { #asserted };

            #[derive(#derived::serde::Deserialize, #derived::schemars::JsonSchema)]
            #twin

            #[automatically_derived]
            impl<'de> #derived::serde::Deserialize<'de> for #ident {
                fn deserialize<D: #derived::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    #twin_ident::deserialize(deserializer)
                }
            }

            #[automatically_derived]
            impl #derived::schemars::JsonSchema for #ident {
                fn schema_name() -> ::std::borrow::Cow<'static, str> {
                    ::std::borrow::Cow::Borrowed(#name)
                }

                fn schema_id() -> ::std::borrow::Cow<'static, str> {
                    ::std::borrow::Cow::Borrowed(::core::concat!(::core::module_path!(), "::", #name))
                }

                fn inline_schema() -> bool {
                    <#twin_ident as #derived::schemars::JsonSchema>::inline_schema()
                }

                fn json_schema(
                    generator: &mut #derived::schemars::SchemaGenerator,
                ) -> #derived::schemars::Schema {
                    <#twin_ident as #derived::schemars::JsonSchema>::json_schema(generator)
                }
            }
        };
    })
}

/// Returns the path that `#[tool_input(crate = "…")]` names.
fn named_root(attrs: &[Attribute]) -> Result<Option<String>> {
    let mut root = None;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("tool_input")) {
        attr.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("only `crate = \"…\"` is known here; write all else as `#[serde(…)]`"));
            }
            let path: LitStr = meta.value()?.parse()?;
            path.parse::<Path>()?;
            root = Some(path.value());
            Ok(())
        })?;
    }
    Ok(root)
}

/// Refuses types that cannot be the input of a tool.
fn check(input: &DeriveInput) -> Result<()> {
    if let Some(generic) = input.generics.params.first() {
        let problem = "an input of a tool has no parameters: its schema must be known, and it owns what it holds";
        return Err(Error::new(generic.span(), problem));
    }
    match &input.data {
        Data::Union(union) => Err(Error::new(union.union_token.span(), "an input of a tool is a struct or an enum")),
        Data::Struct(_) | Data::Enum(_) => Ok(()),
    }
}

/// Types of the fields without attributes of serde or schemars.
fn plain_types(input: &DeriveInput) -> impl Iterator<Item = &Type> {
    let fields: Vec<&Field> = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    let is_told = |attr: &Attribute| attr.path().is_ident("serde") || attr.path().is_ident("schemars");
    fields.into_iter().filter(move |field| !field.attrs.iter().any(is_told)).map(|field| &field.ty)
}

/// Reduces the type to the parts that serde and schemars read.
fn twin(mut input: DeriveInput) -> DeriveInput {
    input.vis = Visibility::Inherited;
    keep_known(&mut input.attrs);
    let default = format!("<{} as ::core::default::Default>::default", input.ident);
    input.attrs.iter_mut().for_each(|attr| name_default(attr, &default));
    match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut().for_each(|field| keep_known(&mut field.attrs)),
        Data::Enum(data) => {
            for variant in &mut data.variants {
                keep_known(&mut variant.attrs);
                variant.fields.iter_mut().for_each(|field| keep_known(&mut field.attrs));
            }
        }
        Data::Union(_) => {}
    }
    input
}

/// `default` on the type means the type's own default; the twin has none, so the attribute names it.
fn name_default(attr: &mut Attribute, default: &str) {
    let Ok(metas) = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else { return };
    let metas = metas.into_iter().map(|meta| match meta {
        Meta::Path(path) if path.is_ident("default") => parse_quote!(#path = #default),
        meta => meta,
    });
    let metas: Vec<Meta> = metas.collect();
    let name = attr.path();
    *attr = parse_quote!(#[#name(#(#metas),*)]);
}

fn keep_known(attrs: &mut Vec<Attribute>) {
    attrs.retain(|attr| ["serde", "schemars", "doc"].iter().any(|known| attr.path().is_ident(known)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(input: DeriveInput) -> String {
        expand(input, "::windlass_tool").unwrap_err().to_string()
    }

    #[test]
    fn what_no_tool_can_take_is_an_error() {
        assert!(
            problem(parse_quote!(
                struct A<'a> {
                    a: &'a str,
                }
            ))
            .contains("no parameters")
        );
        assert!(
            problem(parse_quote!(
                struct A<T> {
                    a: T,
                }
            ))
            .contains("no parameters")
        );
        assert!(problem(parse_quote!(union A { a: u8 })).contains("a struct or an enum"));
        assert!(
            problem(parse_quote!(
                #[tool_input(rename = "b")]
                struct A {}
            ))
            .contains("only `crate")
        );
        assert!(
            problem(parse_quote!(
                #[tool_input(crate = "a b")]
                struct A {}
            ))
            .contains("unexpected token")
        );
    }

    #[test]
    fn all_that_it_refers_to_is_below_its_root() {
        for (input, root) in [
            (
                parse_quote!(
                    struct A {
                        a: u8,
                    }
                ),
                "windlass_tool",
            ),
            (
                parse_quote!(
                    #[tool_input(crate = "my::agent::tool")]
                    struct A {
                        a: u8,
                    }
                ),
                "my::agent::tool",
            ),
        ] {
            let text = expand(input, "windlass_tool").unwrap().to_string().replace(' ', "");
            let outside =
                |what: &str| text.matches(what).count() - text.matches(&format!("{root}::derived::{what}")).count();
            assert_eq!((outside("serde::"), outside("schemars::"), outside("ToolInput")), (0, 0, 0), "{text}");
            assert!(text.contains(&format!("crate=\"{root}::derived::serde\"")), "{text}");
        }
    }

    #[test]
    fn a_twin_has_what_serde_and_schemars_read_and_nothing_else() {
        let twin = twin(parse_quote! {
            #[derive(Clone)]
            #[serde(default, rename_all = "camelCase")]
            #[non_exhaustive]
            pub(crate) struct City {
                /// Name of the city.
                #[other(x)]
                #[serde(rename = "n")]
                pub name: String,
            }
        });
        let expected: DeriveInput = parse_quote! {
            #[serde(default = "<City as ::core::default::Default>::default", rename_all = "camelCase")]
            struct City {
                /// Name of the city.
                #[serde(rename = "n")]
                pub name: String,
            }
        };
        assert_eq!(quote!(#twin).to_string(), quote!(#expected).to_string());
    }
}
